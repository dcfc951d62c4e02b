/**
 * How the SQLite store behaves as the ledger grows: a claim, a read, and two lists, among few rows and
 * among many. Without the sync, which would hide the growth.
 *
 * @module
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OperationRecord } from "../../src/ledger/record.ts";
import type { Store } from "../../src/ledger/store.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import type { Report } from "../progress.ts";
import { drive, inTurns } from "../stores/measure.ts";
import { CLAIMED, LEASE_MS, newId, result, settledWith } from "../stores/sqlite-calls.ts";
import type { Series } from "./figures.ts";
import type { SuiteOptions } from "./options.ts";
import type { Part } from "./part.ts";

const FEW = 10_000;
const A_SCOPE = 10;
const UNKNOWN = 50;
const AT_ONCE = 500;
/** Rows that are read again, spread over the ledger. */
const KEPT = 1_000;
const SETTLED = settledWith(result(256));
const { tenant } = SETTLED;

/** The rows of the largest ledger. */
export const mostRows = ({ big, quick }: Pick<SuiteOptions, "big" | "quick">): number =>
  quick ? 40_000 : big ? 5_000_000 : 250_000;

export const rowsText = (rows: number): string => `${rows.toLocaleString("en-US")} rows`;

export const growth: Part = {
  groups: ["growth"],
  async measure(_wanted, options, report) {
    const folder = mkdtempSync(join(tmpdir(), "holdfire-bench-growth-"));
    const sizes = [FEW, ...(options.big ? [1_000_000] : []), mostRows(options)];
    const ledgers = new Map<string, Ledger>();
    try {
      for (const rows of sizes) {
        ledgers.set(rowsText(rows), await fill(join(folder, `${rows}.db`), rows, report));
      }
      const series: Series[] = [];
      for (const [at, move] of Object.entries(MOVES)) {
        report(`growth: ${at}`, false);
        const cases = Object.fromEntries(
          // Short rounds: a small ledger must not grow much while it is measured.
          [...ledgers].map(([name, ledger]) => [
            name,
            () => drive(1, options.ms / 3, move(ledger)),
          ]),
        );
        await inTurns(1, cases);
        const all = await inTurns(options.rounds, cases);
        for (const [name, measured] of Object.entries(all)) {
          const p50Us = measured.map((one) => one.p50Us);
          const p99Us = measured.map((one) => one.p99Us);
          series.push({ group: "growth", name, at, rounds: { p50Us, p99Us } });
        }
      }
      report("growth done", true);
      return { series, notRun: [] };
    } finally {
      for (const { store } of ledgers.values()) await store.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

interface Ledger {
  readonly store: Store;
  readonly rows: number;
  readonly ids: readonly string[];
}

const scopeOf = (row: number): string => `request-${Math.floor(row / A_SCOPE)}`;

async function fill(path: string, rows: number, report: Report): Promise<Ledger> {
  const store = sqliteStore({ path, durability: "process" });
  await store.open();
  const ids: string[] = [];
  const unknownEach = Math.floor(rows / UNKNOWN);
  const keptEach = Math.max(1, Math.floor(rows / KEPT));
  for (let first = 0; first < rows; first += AT_ONCE) {
    report(`growth: row ${first.toLocaleString("en-US")} of ${rowsText(rows)}`, false);
    const swaps = Array.from({ length: AT_ONCE }, (_, at) => {
      const row = first + at;
      const id = newId();
      if (row % keptEach === 0) ids.push(id);
      const isUnknown = row % unknownEach === 0;
      const record = { ...(isUnknown ? unknown() : SETTLED), id, scope: scopeOf(row) };
      return store.swap({ tenant, id, expect: 0, record, lease: "none" });
    });
    await Promise.all(swaps);
  }
  return { store, rows, ids };
}

const unknown = (): OperationRecord => ({
  ...CLAIMED,
  state: { tag: "unknown", reason: "lost_reply" },
});

const MOVES: Readonly<Record<string, (ledger: Ledger) => () => Promise<void>>> = {
  replay: ({ store, ids }) => {
    let n = 0;
    return async () => {
      n += 1;
      const { stored } = await store.read(tenant, ids[(n * 7) % ids.length] ?? "");
      if (!stored) throw new Error("A row that was written is found.");
    };
  },
  "list by scope": ({ store, rows }) => {
    let n = 0;
    return async () => {
      n += 1;
      const { items } = await store.list({
        tenant,
        scope: scopeOf((n * 7_919) % rows),
        limit: 100,
      });
      if (items.length !== A_SCOPE) throw new Error(`A scope has ${A_SCOPE} operations.`);
    };
  },
  "list by status":
    ({ store }) =>
    async () => {
      const { items } = await store.list({ tenant, states: ["unknown"], limit: 100 });
      if (items.length !== UNKNOWN) throw new Error(`There are ${UNKNOWN} unknown operations.`);
    },
  // The last one: what it claims stays open, and would be among what the lists look through.
  claim:
    ({ store }) =>
    async () => {
      const id = newId();
      const record = { ...CLAIMED, id, scope: "request-new" };
      const swapped = await store.swap({ tenant, id, expect: 0, record, lease: LEASE_MS });
      if (!swapped.ok) throw new Error("A new id is free.");
    },
};
