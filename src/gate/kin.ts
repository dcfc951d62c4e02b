/**
 * Who else wrote to this resource in this scope, by the same tool: each takes the next free place of
 * a numbered row, so that to find them all is to count. The row is kept as effects are, since stores
 * find those by name and let them go with their operation.
 *
 * @module
 */

import type { Engine } from "../engine/engine.ts";
import type { Operation } from "../engine/operation.ts";
import { reach } from "../engine/reach.ts";
import { digestText } from "../key/digest.ts";
import type { Stored } from "../ledger/record.ts";

/** No service of a user's: it has a control character. */
const ROW = "\u001edrift";
/** So many writes of one tool to one resource in one scope are compared, and no more. */
const MOST_PLACES = 256;
const MOST_ROWS = 1_000;

export interface Kin {
  /** Takes a place for this operation, and returns the first word of `judge` on another. */
  firstOf<T>(
    operation: Operation,
    judge: (other: Stored | undefined) => Promise<T | undefined>,
    engine: Engine,
  ): Promise<T | undefined>;
}

export function createKin(): Kin {
  /** Of each row in each run, those at its beginning that are settled and need no other look. */
  const passed = new Map<string, string[]>();

  return {
    async firstOf(operation, judge, engine) {
      const { ref, draft, scope, tool } = operation;
      const { resource, run = "" } = draft.identity;
      // Enlisted, its place would stand in a transaction that others would have to wait for.
      if (resource === undefined || engine.enlisted) return undefined;
      const { ledger } = engine;
      const { store } = ledger;
      const { tenant, id } = ref;
      const place = (n: number) => digestText("drift", scope, tool.name, resource, String(n));
      const key = digestText("drift", tenant, scope, tool.name, resource, run);
      const settled = passed.get(key) ?? [];
      remember(passed, key, settled);
      let hasPlace = settled.includes(id);
      for (let n = settled.length, inRow = true; n < MOST_PLACES; n += 1) {
        const asked = hasPlace
          ? store.ownerOf(tenant, ROW, place(n))
          : store.own(tenant, ROW, place(n), id);
        // One further: a place in between may have been given back.
        const beyond = hasPlace ? undefined : store.ownerOf(tenant, ROW, place(n + 1));
        const [owner, next] = await reach(engine, "drift", Promise.all([asked, beyond]));
        if (owner === undefined) return undefined;
        if (owner === id) {
          if (!hasPlace && next === undefined) return undefined;
          hasPlace = true;
          inRow = false;
          continue;
        }
        const other = await reach(engine, "drift", ledger.read({ tenant, id: owner }));
        const word = await judge(other);
        if (word !== undefined) return word;
        inRow &&= isDone(other, run) && settled.length === n;
        if (inRow) settled.push(owner);
      }
      return undefined;
    },
  };
}

/** It will be judged the same for the rest of this run. */
const isDone = (other: Stored | undefined, run: string): boolean =>
  other?.record.state.tag === "committed" && other.record.runs.includes(run);

function remember(passed: Map<string, string[]>, key: string, settled: string[]): void {
  passed.delete(key);
  passed.set(key, settled);
  const [oldest] = passed.size > MOST_ROWS ? passed.keys() : [];
  if (oldest !== undefined) passed.delete(oldest);
}
