/**
 * The question that a person is shown by the host: which tool of which server, with what, and what is to be known
 * before one says yes. It is bounded, and hidden characters are visible.
 *
 * @module
 */

import { driftLines } from "../../describe/decision-facts.ts";
import type { Approval } from "../../gate/approvals.ts";
import { visible } from "../../key/escape-hidden.ts";
import { peek, peekItems } from "../../lang/peek.ts";

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
    ...driftLines(peek(shown, "drift"), MAX_SHOWN),
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

const cut = (text: string, most = MAX_SHOWN): string => visible(text, most);

export type PersonsAnswer = "yes" | "no" | "none";

/** A dialogue that was closed is no answer. */
export function answerIn(elicited: unknown): PersonsAnswer {
  const action = peek(elicited, "action");
  if (action === "decline") return "no";
  if (action !== "accept") return "none";
  return peek(peek(elicited, "content"), "confirm") === true ? "yes" : "no";
}
