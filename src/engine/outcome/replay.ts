/**
 * From a record to what the caller is told: the replay of an outcome, without network.
 *
 * @module
 */

import { rewordedFields } from "../../key/mint.ts";
import type { Payload } from "../../ledger/codec.ts";
import type { OperationRecord, State, Stored } from "../../ledger/record.ts";
import { factsOf, type Operation } from "../call/operation.ts";
import type { Engine, Tool } from "../engine.ts";
import { askReader } from "../steps/ask-reader.ts";
import type { Common, Outcome } from "./outcome.ts";
import { reviveResponse } from "./response.ts";

/** What can be said of an operation without telling what became of it. */
export function commonOf(
  operation: Operation,
  record: OperationRecord | undefined,
  engine: Engine,
): Common {
  const reworded = record ? rewordedFields(record.fields, operation.draft.fields) : [];
  return {
    ...factsOf(operation, record?.generation),
    replayed: record !== undefined,
    recorded: true,
    reworded: reworded.length > 0 ? reworded : undefined,
    attempts: record?.fired ?? 0,
    licence: record?.attempts.at(-1)?.licence,
    at: record?.stateAt ?? engine.ledger.clock.earliest(),
  };
}

export async function outcomeOf(
  operation: Operation,
  stored: Stored | undefined,
  engine: Engine,
): Promise<Outcome<unknown>> {
  const record = stored?.record;
  const common = commonOf(operation, record, engine);
  if (!record) return { ...common, status: "in_progress" };
  const { state } = record;
  switch (state.tag) {
    case "committed": {
      const { effectId } = state;
      const kept = await keptResult(operation, record, state, engine);
      return kept.ok
        ? { ...common, status: "committed", effect: "noop", effectId, result: kept.value }
        : { ...common, status: "committed", effect: "noop", effectId, resultLost: true };
    }
    case "not_applied": {
      const { reason, rejection } = state;
      return { ...common, status: "not_applied", reason, rejection };
    }
    case "unknown":
      return { ...common, status: "unknown", reason: state.reason, hint: hintFor(record, state) };
    case "denied":
      return { ...common, status: "denied", by: state.by };
    case "held":
      return { ...common, status: "held", reason: state.ask.why };
    case "queued":
    case "claimed":
      return { ...common, status: "in_progress" };
  }
}

/** The stored result; read again from the service if the ledger did not keep it. */
async function keptResult(
  operation: Operation,
  record: OperationRecord,
  { payload }: Extract<State, { tag: "committed" }>,
  engine: Engine,
): Promise<{ readonly ok: true; readonly value: unknown } | { readonly ok: false }> {
  const { tool } = operation;
  const stored = payload && storedResult(operation, payload, engine);
  if (stored) return stored;
  if (!tool.readState) return { ok: false };
  const reading = await askReader(operation, record, tool.readTimeoutMs, engine);
  if (reading.reading === "committed") return { ok: true, value: reading.result };
  if (reading.reading === "duplicated") return { ok: true, value: reading.results[0] };
  return { ok: false };
}

/** What the ledger kept of a result; `undefined` if it cannot be read. */
export function storedResult(
  { tool, ref }: Operation,
  payload: Payload,
  engine: Engine,
): { readonly ok: true; readonly value: unknown } | { readonly ok: false } | undefined {
  const decoded = engine.codec.decode(payload, ref);
  if (!decoded.ok) return undefined;
  if (decoded.form === "response") return { ok: true, value: reviveResponse(decoded.value) };
  return revived(tool, decoded.value);
}

/** A user's function that throws makes a result lost, not an operation failed. */
function revived({ revive }: Tool, value: unknown) {
  try {
    return { ok: true, value: revive ? revive(value) : value } as const;
  } catch {
    return { ok: false } as const;
  }
}

/** What would let holdfire decide next time. */
export function hintFor(
  record: OperationRecord,
  state: Extract<State, { tag: "unknown" }>,
): string {
  const status = record.attempts.at(-1)?.status;
  if (status === 429 || status === 503) {
    return `If the service does nothing when it answers ${status}, declare refuses: [${status}].`;
  }
  switch (state.reason) {
    case "lost_reply":
      return "Declare readState, or keyed if the service honours keys, so that a lost reply can be looked up.";
    case "absent_unproven":
      return "Declare commitsWithinMs, so that an absence can become proof.";
    case "key_unused":
      return "Send the key: take it from run's second argument.";
    case "reader_blind":
      return "The reader missed a commit that is known; mend readState.";
    default:
      return "It is listed in hf.operations; reconcile or a person settles it.";
  }
}
