/**
 * A result on its way: what the ledger keeps of it, and what each caller gets of it: those who joined, a copy. A result that cannot be kept was
 * still committed. How a fetch `Response` is read is in `response.ts`.
 *
 * @module
 */

import { isResponse } from "../../classify/answer.ts";
import type { KeptResponse, Payload } from "../../ledger/codec/codec.ts";
import type { Engine } from "../engine.ts";
import { about, type Operation } from "../operation/operation.ts";
import type { Outcome } from "../operation/outcome.ts";
import { copyOfResponse, isStreamed } from "./response.ts";

/** What an attempt returned; of a `Response`, also what can be kept of it. */
export interface Result {
  readonly value: unknown;
  readonly kept?: KeptResponse | undefined;
  /** A `Response` that is too large or too slow to keep: its body is for the caller to read, who alone has it. */
  readonly isUnread?: boolean | undefined;
}

export function payloadOf(
  operation: Operation,
  { value, kept, isUnread }: Result,
  engine: Engine,
): Payload | undefined {
  const { ref, tool } = operation;
  const owner = { ...ref, tool: tool.name };
  const { codec, events } = engine;
  if (isResponse(value) && !kept) {
    const why = isUnread
      ? `larger than ${codec.maxBytes} bytes, or still coming when its time was up`
      : "the body broke off";
    events.emit("warning", () => ({ ...about(operation), code: "payload_lost", why }));
    return undefined;
  }
  const encoded = kept ? codec.encodeResponse(kept, owner) : codec.encode(value, owner);
  if (encoded.ok) return encoded.payload;
  events.emit("warning", () => ({ ...about(operation), code: "payload_lost", why: encoded.why }));
  return undefined;
}

export function outcomeForCaller(outcome: Outcome<unknown>, joined: boolean): Outcome<unknown> {
  if (outcome.status !== "committed" || outcome.resultLost) {
    return joined ? { ...outcome, replayed: true } : outcome;
  }
  const { result } = outcome;
  const isBody = isResponse(result);
  // A reader may hand over a Response whose body it has read itself, or still reads, and one that is read as it comes
  // is the first caller's; that body is gone.
  if (isBody && (result.bodyUsed || result.body?.locked || (joined && isStreamed(result)))) {
    const { result: _, ...rest } = outcome;
    return { ...rest, resultLost: true, replayed: joined || outcome.replayed };
  }
  const own =
    isBody && !isStreamed(result) ? { ...outcome, result: copyOfResponse(result) } : outcome;
  if (!joined) return own;
  const copy = isBody ? own.result : copyOf(own.result);
  return { ...own, result: copy, replayed: true, effect: "noop" };
}

/** No caller changes another caller's result; what cannot be copied is shared. */
function copyOf(result: unknown): unknown {
  try {
    return structuredClone(result);
  } catch {
    return result;
  }
}
