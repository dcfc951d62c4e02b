/**
 * Deriving the id of an operation from arguments of three sizes.
 *
 * @module
 */

import { createHash } from "node:crypto";
import canonicalizeJson from "canonicalize";
import { canonicalize } from "../../src/key/canonical.ts";
import { mintId } from "../../src/key/mint.ts";
import { HOLDFIRE } from "../call/cases.ts";
import { drive, inTurns } from "../stores/measure.ts";
import type { Series } from "./figures.ts";
import type { Part } from "./part.ts";

const SIZES: Readonly<Record<string, number>> = { "100 B": 100, "1 KB": 1_000, "100 KB": 100_000 };
const NAMING = { app: "bench", tenant: "acme", scope: "request-1", tool: "place_order" };
/** Of small arguments many at a time: the clock itself takes a while. */
const BYTES_A_TURN = 20_000;

type Document = Readonly<Record<string, unknown>>;

/** Rows of an order, as many as make so many bytes. */
export function documentOf(bytes: number): Document {
  const row = (n: number) => ({ sku: `lamp-${n}`, cents: 1_200 + n, gift: n % 2 === 0 });
  const rows: unknown[] = [];
  const made = (): Document => ({ to: "ana@example.com", rows });
  while (
    JSON.stringify({ to: "ana@example.com", rows: [...rows, row(rows.length)] }).length <= bytes
  ) {
    rows.push(row(rows.length));
  }
  return made();
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url");

const WAYS: Readonly<Record<string, (args: Document) => string>> = {
  [HOLDFIRE]: (args) => mintId({ ...NAMING, intent: canonicalize(args, "args").text }),
  "canonicalize and SHA-256": (args) => sha256(canonicalizeJson(args) ?? ""),
  "JSON.stringify and SHA-256": (args) => sha256(JSON.stringify(args)),
};

export const keys: Part = {
  groups: ["keys"],
  async measure(_wanted, { rounds, ms }, report) {
    const series: Series[] = [];
    for (const [at, bytes] of Object.entries(SIZES)) {
      report(`keys of ${at}`, false);
      const args = documentOf(bytes);
      const times = Math.max(1, Math.round(BYTES_A_TURN / bytes));
      const cases = Object.fromEntries(
        Object.entries(WAYS).map(([name, derive]) => {
          const lot = async (): Promise<void> => {
            for (let n = 0; n < times; n += 1) derive(args);
          };
          return [name, () => drive(1, ms / 4, lot)];
        }),
      );
      await inTurns(2, cases);
      const all = await inTurns(rounds, cases);
      for (const [name, measured] of Object.entries(all)) {
        const us = measured.map(({ perSecond }) => 1e6 / perSecond / times);
        series.push({ group: "keys", name, at, rounds: { us } });
      }
    }
    report("keys done", true);
    return { series, notRun: [] };
  },
};
