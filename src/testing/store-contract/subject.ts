/**
 * The store under test, and what the tests do to it: moves are judged by the real `apply`.
 *
 * @module
 */

import assert from "node:assert/strict";
import { type Applied, apply } from "../../ledger/moves/apply.ts";
import type { Move } from "../../ledger/moves/moves.ts";
import type { OperationRecord, Stored } from "../../ledger/record.ts";
import type { Change, Store, Swapped } from "../../ledger/store.ts";

/** A clock that stands still until it is told to go on. */
export interface TestClock {
  now(): number;
  advance(ms: number): void;
}

export interface Subject {
  readonly store: Store;
  /** The store's clock when it was opened. */
  readonly start: number;
  /** Opens the same ledger once more; it is closed after the test. */
  readonly another: () => Promise<Store>;
  /** Returns once the store's clock has reached `time`. */
  readonly reach: (time: number) => Promise<void>;
  /** Reports the test as skipped, where the runner can. Return after it. */
  readonly skip: (why: string) => void;
}

/** Registers a test that gets a store of its own, on an empty ledger. */
export type StoreTest = (title: string, body: (subject: Subject) => Promise<void>) => void;

/** A first version of the record, written without a lease. */
export const create = (record: OperationRecord): Change => ({
  tenant: record.tenant,
  id: record.id,
  expect: 0,
  record,
  lease: "none",
});

/** Swaps, and fails the test if the store refuses. */
export async function mustSwap(
  store: Store,
  change: Change,
): Promise<Extract<Swapped, { ok: true }>> {
  const swapped = await store.swap(change);
  if (!swapped.ok) throw new Error(`The store refused a change of ${change.id}.`);
  return swapped;
}

/** Reads what must be there. */
export async function mustRead(store: Store, tenant: string, id: string): Promise<Stored> {
  const { stored } = await store.read(tenant, id);
  if (!stored) throw new Error(`The store does not find ${id}.`);
  return stored;
}

export interface Performed {
  readonly applied: Applied;
  /** Absent when there was nothing to write. */
  readonly swapped: Swapped | undefined;
}

/** One try of a move, as a process would make it: read, judge, swap. */
export async function perform(
  store: Store,
  tenant: string,
  id: string,
  move: Move,
): Promise<Performed> {
  const { stored, now } = await store.read(tenant, id);
  const applied = apply(stored, move, now);
  if (applied.tag !== "write") return { applied, swapped: undefined };
  const { record, lease } = applied;
  const expect = stored?.version ?? 0;
  return { applied, swapped: await store.swap({ tenant, id, expect, record, lease }) };
}

/** Fails unless both are equal. A property that is `undefined` counts as absent: stores leave it out. */
export function assertSame(actual: unknown, expected: unknown): void {
  assert.deepEqual(withoutUndefined(actual), withoutUndefined(expected));
}

/** Fails unless `actual` has all that `expected` has; it may have more properties. */
export function assertPart(actual: unknown, expected: object): void {
  assertSame(partOf(actual, expected), expected);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function partOf(actual: unknown, expected: unknown): unknown {
  if (!isObject(actual) || !isObject(expected)) return actual;
  const names = Object.keys(expected);
  return Object.fromEntries(names.map((name) => [name, partOf(actual[name], expected[name])]));
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (!isObject(value)) return value;
  const defined = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(defined.map(([name, inner]) => [name, withoutUndefined(inner)]));
}
