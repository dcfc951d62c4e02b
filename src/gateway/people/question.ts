/**
 * The question that a person is shown by the host: which tool of which server, with what, and what is to be known
 * before one says yes. It is bounded, and hidden characters are visible.
 *
 * @module
 */

import type { Approval } from "../../gate/approvals.ts";
import type { Drift } from "../../gate/drift.ts";
import { visible } from "../../key/escape-hidden.ts";
import { peek, peekItems } from "../../lang/peek.ts";
import { fieldsOf } from "../pipe/message.ts";

const MAX_SHOWN = 2_000;
const MAX_LINES = 20;

export interface Form {
  readonly mode: "form";
  readonly message: string;
  readonly requestedSchema: object;
}

export function questionOf(approval: Approval, server: string, tool: string): Form {
  const { shown } = approval;
  const args = peek(shown, "args");
  const also = peekItems(peek(shown, "alsoDoes"), MAX_LINES).map((one) => `- ${cut(String(one))}`);
  const lines = [
    `May the tool "${cut(tool, 200)}" of the server "${cut(server, 200)}" be called?`,
    `Arguments: ${args === undefined ? "not kept" : cut(JSON.stringify(args))}`,
    ...(also.length > 0 ? ["It is to be known that:", ...also] : []),
    // A destructive call may drift as well.
    ...driftLines(peek(shown, "drift")),
    `Operation ${approval.operation.id}`,
  ];
  return {
    mode: "form",
    message: lines.join("\n"),
    requestedSchema: {
      type: "object",
      properties: {
        confirm: { type: "boolean", title: "Yes, call it", description: "A no is final." },
      },
      required: ["confirm"],
    },
  };
}

/** What it differs from, and what a yes does to that. */
function driftLines(drift: unknown): string[] {
  if (drift === undefined) return [];
  const { intent, from, why } = fieldsOf(drift);
  const earlier = intent === undefined ? `operation ${String(from)}` : cut(JSON.stringify(intent));
  switch (why as Drift["why"]) {
    case "unsettled":
      return [
        `An earlier call of this tool is not settled, and may have happened: ${earlier}`,
        "A yes gives that one up: it is not sent again.",
      ];
    case "version":
      return [
        `Another version of this tool has left a call open, which may have happened: ${earlier}`,
      ];
    case "committed_since":
      return [`An earlier call of this tool, which was told as open, is done by now: ${earlier}`];
    case "earlier_run":
      return [`It differs from an earlier call of this tool, which is done: ${earlier}`];
  }
}

const cut = (text: string, most = MAX_SHOWN): string => visible(text, most);

export type PersonsAnswer = "yes" | "no" | "none";

/** A dialogue that was closed is no answer. */
export function answerIn(elicited: unknown): PersonsAnswer {
  const action = peek(elicited, "action");
  if (action === "decline") return "no";
  if (action !== "accept") return "none";
  return peek(peek(elicited, "content"), "confirm") === true ? "yes" : "no";
}
