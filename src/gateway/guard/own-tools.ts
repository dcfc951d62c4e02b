/**
 * The tools that the gateway adds to the server's: to look what became of a call, and to make one once more that is
 * known to be done.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { putBounded } from "../../lang/bounded.ts";
import { type Answer, type Fields, fieldsOf } from "../pipe/message.ts";
import type { ReadTask } from "../tasks.ts";
import { inboxCommand, wordsAnswer } from "./answer.ts";
import { again } from "./answer-call.ts";
import { type Call, type CallAnswer, type CallParts, successorOf } from "./call.ts";
import type { Operations } from "./operations.ts";

export interface OwnTools {
  has(name: unknown): boolean;
  addTo(tools: readonly object[]): readonly object[];
  /** Keeps what a call was made with, for a while: the ledger does not. */
  remember(operation: string, call: Call): void;
  answer(
    params: Fields,
    thread: string,
    parts: CallParts,
    renewed: (call: Call) => Call,
  ): Promise<Answer | CallAnswer>;
}

const STATUS = {
  name: "holdfire_status",
  description:
    "Tells what became of an earlier tool call whose outcome was unknown, in progress or held; without an operation, of all that are not settled. It changes nothing; use it instead of calling the tool again.",
  inputSchema: {
    type: "object",
    properties: {
      operation: { type: "string", description: 'The "operation" of an earlier answer.' },
    },
  },
  annotations: { readOnlyHint: true },
};

const DO_AGAIN = {
  name: "holdfire_do_again",
  description:
    'Makes a tool call once more that was answered with "already done". Only if the user wants it a second time. At most once for each operation; a person may be asked.',
  inputSchema: {
    type: "object",
    properties: {
      operation: { type: "string", description: 'The "operation" of the answer.' },
      why: { type: "string", description: "Why it is wanted a second time." },
    },
    required: ["operation", "why"],
  },
  annotations: { readOnlyHint: false },
};

const MOST_CALLS = 1_000;
const LONGEST_ARGUMENTS = 65_536;
const MOST_LISTED = 50;

export interface OwnToolsOptions {
  readonly hf: Holdfire;
  readonly operations: Operations;
  /** The ledger, as `--store` names it. */
  readonly ledger: string;
  readonly readTask: ReadTask;
}

export function ownTools({ hf, operations, ledger, readTask }: OwnToolsOptions): OwnTools {
  const calls = new Map<string, Call>();
  const statusTool = hf.statusTool();

  async function status(operation: unknown, thread: string): Promise<Answer> {
    if (typeof operation === "string") {
      const reply = await statusTool.reply({ operation }, { scope: thread });
      const view = await hf.operations.get(operation).catch(() => undefined);
      const task = view?.scope === thread ? await readTask(view.effectId) : undefined;
      return wordsAnswer({ ...reply, task }, false);
    }
    const { items } = await hf.operations.list({ open: true, scope: thread, limit: MOST_LISTED });
    const open = items.map(({ id, tool, status: outcome, reason, at }) => ({
      operation: id,
      tool,
      outcome,
      reason,
      since: new Date(at).toISOString(),
    }));
    return wordsAnswer({ ok: true, open, personAnswersWith: inboxCommand(ledger) }, false);
  }

  async function doAgain(
    { operation }: Fields,
    thread: string,
    parts: CallParts,
    renewed: (call: Call) => Call,
  ): Promise<Answer | CallAnswer> {
    const id = String(operation);
    const view = await hf.operations.get(id).catch(() => undefined);
    if (view?.scope !== thread) return refuse("No operation of this conversation has that name.");
    if (view.open) return refuse("It is not settled yet. Nothing was sent. Ask holdfire_status.");
    if (view.status !== "committed") return refuse("It did not happen. Call the tool itself.");
    const call = calls.get(id);
    if (!call) return unknownCall(view.tool, id, thread);
    return parts.trackedCalls.inTurn(call.row, async () => {
      const answered = await again(renewed(call), id, parts);
      remember(operations.idOf(call.tool, answered.tracked.key), call);
      return answered;
    });
  }

  /** The gateway that has made it is gone, and with it what it was made with; what became of it is in the ledger. */
  async function unknownCall(fullName: string, id: string, thread: string): Promise<Answer> {
    const tool = fullName.slice(fullName.indexOf("#") + 1);
    const successor = operations.idOf(tool, successorOf(id));
    if (await hf.operations.get(successor)) return status(successor, thread);
    return refuse(
      "Nothing was sent: its arguments are not kept. Call the tool with the same arguments, and then this one again.",
    );
  }

  function remember(operation: string, call: Call): void {
    if (call.size > LONGEST_ARGUMENTS) calls.delete(operation);
    else putBounded(calls, operation, call, MOST_CALLS);
  }

  return {
    has: (name) => name === STATUS.name || name === DO_AGAIN.name,
    addTo: (tools) => [...tools, STATUS, DO_AGAIN],
    remember,
    answer(params, thread, parts, renewed) {
      const given = fieldsOf(params.arguments);
      if (params.name === STATUS.name) return status(given.operation, thread);
      return doAgain(given, thread, parts, renewed);
    },
  };
}

const refuse = (message: string): Answer => wordsAnswer({ ok: false, message }, true);
