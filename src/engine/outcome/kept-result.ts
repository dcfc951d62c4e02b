/**
 * What is kept of a result, and what it says of the world. A result that cannot be kept was still
 * committed.
 *
 * @module
 */

import { isResponse } from "../../classify/answer.ts";
import { ignoreRejection } from "../../lang/ignore-rejection.ts";
import type { KeptResponse, Payload } from "../../ledger/codec.ts";
import type { Effect } from "../../ledger/record.ts";
import type { Tool } from "../define/tool.ts";
import type { Engine } from "../engine.ts";
import { about, type Operation } from "../operation/operation.ts";

/** What an attempt returned; of a `Response`, also what can be kept of it. */
export interface Result {
  readonly value: unknown;
  readonly kept?: KeptResponse | undefined;
}

export function payloadOf(
  operation: Operation,
  { value, kept }: Result,
  engine: Engine,
): Payload | undefined {
  const { ref, tool } = operation;
  const owner = { ...ref, tool: tool.name };
  const { codec, events } = engine;
  if (isResponse(value) && !kept) {
    events.emit("warning", () => ({
      ...about(operation),
      code: "payload_lost",
      why: "the body broke off",
    }));
    return undefined;
  }
  const encoded = kept ? codec.encodeResponse(kept, owner) : codec.encode(value, owner);
  if (encoded.ok) return encoded.payload;
  events.emit("warning", () => ({ ...about(operation), code: "payload_lost", why: encoded.why }));
  return undefined;
}

const EFFECTS = new Set<unknown>(["created", "updated", "deleted", "noop"]);

/** A user's function that throws after the send changes nothing: it is only not asked. */
export function effectOf(
  { effectOf: type, effectIdOf: id }: Tool,
  result: unknown,
): { readonly effect: Effect | undefined; readonly effectId: string | undefined } {
  const effect = attempt(type, result);
  const effectId = attempt(id, result);
  return {
    effect: EFFECTS.has(effect) ? (effect as Effect) : undefined,
    effectId: typeof effectId === "string" && effectId.length <= 512 ? effectId : undefined,
  };
}

function attempt(fn: ((result: unknown) => unknown) | undefined, result: unknown): unknown {
  try {
    return ignoreRejection(fn?.(result));
  } catch {
    return undefined;
  }
}
