/**
 * A call of the host that is guarded, and what it is answered with.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import type { Known } from "../../integrations/mcp/listing.ts";
import type { People } from "../people/people.ts";
import type { Answer } from "../pipe/message.ts";
import type { ReadTask } from "../tasks.ts";
import type { Operations } from "./operations.ts";
import type { Compared, Rewordings } from "./rewording.ts";
import type { Sending } from "./send-call.ts";
import type { TrackedCall, TrackedCalls } from "./tracked-calls.ts";
import type { Treatment } from "./treatment.ts";

/** A call of the host, understood. */
export interface Call extends Compared {
  readonly tool: string;
  /** Where the ledger keeps the calls that are the same as this one; see `CallRows`. */
  readonly row: string;
  /** Without keys that a model has made up. */
  readonly args: unknown;
  readonly sending: Sending;
  readonly treatment: Extract<Treatment, { tag: "guard" }>;
  readonly signal: AbortSignal;
  readonly define: () => Promise<Known>;
  /** The same call was under way when it came. */
  readonly isSecond: boolean;
  /** Of its arguments, in characters. */
  readonly size: number;
}

/** What a call is answered with. The answer has not left yet. */
export interface CallAnswer {
  readonly answer: Answer;
  /** The call that the answer is about. */
  readonly tracked: TrackedCall;
}

export interface CallParts {
  readonly hf: Holdfire;
  /** The ledger, as `--store` names it. */
  readonly ledger: string;
  readonly operations: Operations;
  readonly trackedCalls: TrackedCalls;
  readonly rewordings: Rewordings;
  readonly people: People;
  readonly readTask: ReadTask;
  /** How long after a received answer a repeat is asked about, and an unreceived one is replayed, in milliseconds. */
  readonly withinMs: number;
  /** Answers with an error, which the ledger does not keep, by key. */
  readonly failures: Map<string, Answer>;
  readonly onEvent: (event: CallEvent) => void;
}

/** What a report counts. */
export type CallEvent = "fired" | "replayed" | "held" | "unknown" | "asked" | "repeated" | "same";

const AGAIN = "again ";

/** The key of an operation's one successor: made from the operation alone. */
export const successorOf = (operation: string): string => AGAIN + operation;

/** The operation that this key's is the successor of. */
export const predecessorOf = (key: string): string | undefined =>
  key.startsWith(AGAIN) ? key.slice(AGAIN.length) : undefined;
