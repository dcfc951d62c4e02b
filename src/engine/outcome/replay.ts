/**
 * From a record to what the caller is told: the replay of an outcome. Nothing is sent; a result that was not kept is read
 * again where the tool can read.
 *
 * @module
 */

import type { Payload } from "../../ledger/codec/codec.ts";
import { type OperationRecord, runsAt, type State, type Stored } from "../../ledger/record.ts";
import type { Tool } from "../define/tool.ts";
import type { Engine } from "../engine.ts";
import type { Operation } from "../operation/operation.ts";
import type { Outcome } from "../operation/outcome.ts";
import { askReader } from "../reader.ts";
import { commonOf, outcomeOf } from "./build.ts";
import { reviveResponse } from "./response.ts";

type Kept = { readonly ok: true; readonly value: unknown } | { readonly ok: false };

/** What the ledger says, with the result of a commit; without a record, it is in progress. */
export async function replay(
  operation: Operation,
  stored: Stored | undefined,
  engine: Engine,
): Promise<Outcome<unknown>> {
  const record = stored?.record;
  const common = commonOf(operation, record, engine);
  if (!record) return { ...common, status: "in_progress" };
  const { state } = record;
  if (state.tag !== "committed")
    return outcomeOf(common, state, record, engine, toldNow(record, engine));
  const kept = await keptResult(operation, record, state, engine);
  const result = kept.ok ? kept : undefined;
  return outcomeOf(common, state, record, engine, { result, effect: "noop" });
}

/** What the ledger says, for those who want the status and not the result: nothing is read again. */
export function statusOnly(
  operation: Operation,
  stored: Stored | undefined,
  engine: Engine,
): Outcome<unknown> {
  const common = { ...commonOf(operation, stored?.record, engine), replayed: true };
  if (!stored) return { ...common, status: "in_progress" };
  const { record } = stored;
  return outcomeOf(common, record.state, record, engine, toldNow(record, engine));
}

/** What is not in a state: whether its attempt may still be running. */
export const toldNow = (
  { attempts }: OperationRecord,
  { ledger }: Engine,
): { readonly stillRuns: boolean } => ({
  stillRuns: attempts.some((attempt) => runsAt(attempt, ledger.clock.earliest())),
});

/** The stored result; read again from the service if the ledger did not keep it. */
async function keptResult(
  operation: Operation,
  record: OperationRecord,
  { payload, effectId }: Extract<State, { tag: "committed" }>,
  engine: Engine,
): Promise<Kept> {
  const { tool } = operation;
  const stored = payload && storedResult(operation, payload, engine);
  if (stored) return stored;
  if (!tool.readState) return { ok: false };
  const sought = { tag: "has_its_own", effectId } as const;
  const reading = await askReader(operation, record, tool.readTimeoutMs, engine, sought);
  if (reading.reading === "committed") return { ok: true, value: reading.result };
  if (reading.reading === "duplicated") return { ok: true, value: reading.results[0] };
  return { ok: false };
}

/** What the ledger kept of a result; `undefined` if it cannot be read. */
export function storedResult(
  { tool, ref }: Operation,
  payload: Payload,
  engine: Engine,
): Kept | undefined {
  const decoded = engine.codec.decode(payload, ref);
  if (!decoded.ok) return undefined;
  if (decoded.form === "response") return { ok: true, value: reviveResponse(decoded.value) };
  return revived(tool, decoded.value);
}

/** A user's function that throws makes a result lost, not an operation failed. */
function revived({ revive }: Tool, value: unknown): Kept {
  try {
    return { ok: true, value: revive ? revive(value) : value };
  } catch {
    return { ok: false };
  }
}
