/**
 * Asks a person through the host, where the host can: by `elicitation/create`, or in the answer to the call, as an
 * `InputRequiredResult`. Else the question waits in the inbox. No model can answer: what it writes is arguments.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import type { HostFacts } from "../guard/host-facts.ts";
import { type Answer, type Fields, fieldsOf } from "../pipe/message.ts";
import type { OwnRequests } from "../pipe/own-requests.ts";
import { answerIn, type Form, questionOf } from "./question.ts";

export interface People {
  /** Whether the host of this call can ask a person. */
  canAsk(): boolean;
  /** `answered`: the ledger has a person's answer. */
  ask(operation: string, tool: string, signal: AbortSignal): Promise<"answered" | "waits">;
  /** What the host gets in place of an answer: the question, for a host without a session. */
  question(): Fields | undefined;
}

/** The question of ours among those that a call is issued again with. */
const QUESTION = "holdfire";
const STATE = "holdfire:";

export interface PeopleOptions {
  readonly hf: Holdfire;
  readonly server: string;
  /** The person at this machine. */
  readonly user: string;
  readonly host: HostFacts;
  readonly toHost: OwnRequests;
  /** The parameters of the call, in which a host without a session brings the answer. */
  readonly params: Fields;
}

/** For one call. */
export function peopleFor({ hf, server, user, host, toHost, params }: PeopleOptions): People {
  let shown: Fields | undefined;
  const brought = broughtIn(params);

  async function answer(operation: string, digest: string, elicited: unknown): Promise<boolean> {
    const said = answerIn(elicited);
    if (said === "none") return false;
    const by = `${user} via ${host.name ?? "an MCP host"}`.replaceAll(/\p{C}/gu, "_").slice(0, 128);
    const given = { digest, by: by.trim() };
    const answering = said === "yes" ? hf.approvals.approve : hf.approvals.deny;
    // Answered elsewhere meanwhile, or another question by now: what the ledger has decides.
    await answering(operation, given).catch(() => {});
    return true;
  }

  const waits = (digest: string, form: Form): "waits" => {
    shown = {
      resultType: "input_required",
      inputRequests: { [QUESTION]: { method: "elicitation/create", params: form } },
      requestState: STATE + digest,
    };
    return "waits";
  };

  return {
    canAsk: () => host.elicits,
    async ask(operation, tool, signal) {
      const approval = await hf.approvals.get(operation);
      if (!approval || approval.answered) return approval ? "answered" : "waits";
      const { digest } = approval;
      if (brought?.digest === digest) {
        return (await answer(operation, digest, brought.elicited)) ? "answered" : "waits";
      }
      if (!host.elicits) return "waits";
      const form = questionOf(approval, server, tool);
      if (host.isStateless) return waits(digest, form);
      const { result } = await untilStopped(toHost.ask("elicitation/create", form), signal);
      return (await answer(operation, digest, result)) ? "answered" : "waits";
    },
    question: () => shown,
  };
}

/** A host that is gone, or does not want it any more, has not answered. */
function untilStopped(asked: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const none: Answer = { result: undefined };
  return new Promise((resolve) => {
    const stop = () => resolve(none);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    asked.then(resolve, stop).finally(() => signal.removeEventListener("abort", stop));
  });
}

function broughtIn({ requestState, inputResponses }: Fields) {
  if (typeof requestState !== "string" || !requestState.startsWith(STATE)) return undefined;
  const digest = requestState.slice(STATE.length);
  return { digest, elicited: fieldsOf(inputResponses)[QUESTION] };
}

/** The parameters without what answers a question of ours, which is not for the server. */
export function withoutOurs(params: Fields): Fields {
  if (broughtIn(params) === undefined) return params;
  const { requestState: _, inputResponses: __, ...rest } = params;
  return rest;
}
