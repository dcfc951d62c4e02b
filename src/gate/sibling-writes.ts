/**
 * Who else wrote to this resource in this scope, by the same tool: each takes the next free place of
 * a numbered row, so that to find them all is to count. The row is kept as effects are, since stores
 * find those by name and let them go with their operation.
 *
 * A place that is let go would hide those after it. So every second one is taken under a name that is
 * no operation's, and stays: the row ends at the first of these that is free.
 *
 * `ledger/places.ts` has the same idea, and is not used here: there an answer ends the walk, while here one that drifts
 * and is held takes its place all the same; and a walk begins here after those that this process has found settled.
 *
 * @module
 */

import type { Engine } from "../engine/engine.ts";
import type { Operation } from "../engine/operation/operation.ts";
import { askStore } from "../engine/store-call.ts";
import { digestText } from "../key/digest.ts";
import { putBounded } from "../lang/bounded.ts";
import type { Stored } from "../ledger/record.ts";

/** No service of a user's: it has a control character. */
const ROW = "\u001edrift";
/** So many writes of one tool to one resource in one scope are compared, and no more. */
const MOST_PLACES = 256;
const MOST_ROWS = 1_000;
/** Behind an id, it names no operation: what it owns outlives the operation. */
const KEPT = "\u001ekept";

export interface SiblingWrites {
  /** Takes a place for this operation, and returns the first word of `judge` on another. */
  firstOf<T>(
    operation: Operation,
    judge: (other: Stored | undefined) => Promise<T | undefined>,
    engine: Engine,
  ): Promise<T | undefined>;
}

export function createSiblingWrites(): SiblingWrites {
  /** Of each row in each run, those at its beginning that are settled and need no other look. */
  const passed = new Map<string, string[]>();

  return {
    async firstOf(operation, judge, engine) {
      const { ref, draft, scope, tool } = operation;
      const { resource, run = "" } = draft.identity;
      // Enlisted, its place would stand in a transaction that others would have to wait for.
      if (resource === undefined || engine.enlisted) return undefined;
      const { ledger, app } = engine;
      const { store } = ledger;
      const { tenant, id } = ref;
      const place = (n: number) => digestText("drift", app, scope, tool.name, resource, String(n));
      const key = digestText("drift", tenant, scope, tool.name, resource, run);
      const settled = passed.get(key) ?? [];
      putBounded(passed, key, settled, MOST_ROWS);
      const ownerAt = (n: number) => store.ownerOf(tenant, ROW, place(n));
      let hasPlace = settled.includes(id);
      let inRow = true;
      let word: Awaited<ReturnType<typeof judge>>;
      for (let n = settled.length; n < MOST_PLACES; n += 1) {
        const asked = hasPlace
          ? ownerAt(n)
          : store.own(tenant, ROW, place(n), isKept(n) ? id + KEPT : id);
        const further = furtherFrom(n, hasPlace).map(ownerAt);
        const [name, ...ahead] = await askStore(engine, "drift", Promise.all([asked, ...further]));
        const isLast = (further.length === 0 ? [name] : ahead).every((one) => one === undefined);
        const owner = name?.endsWith(KEPT) ? name.slice(0, -KEPT.length) : name;
        if (owner === id) {
          hasPlace = true;
          inRow = false;
        } else if (owner !== undefined && word === undefined) {
          const other = await askStore(engine, "drift", ledger.read({ tenant, id: owner }));
          word = await judge(other);
          inRow &&= word === undefined && isDone(other, run) && settled.length === n;
          if (inRow) settled.push(owner);
        }
        // One that is held takes its place all the same. One that is refused leaves nothing to compare.
        const isJudged = word !== undefined && (hasPlace || tool.onDrift === "refuse");
        if (isJudged || (hasPlace && isLast)) return word;
      }
      return word;
    },
  };
}

const isKept = (n: number): boolean => n % 2 === 1;

/** The places that say whether the row goes on: one that was just taken may have been its own before. */
function furtherFrom(n: number, hasPlace: boolean): readonly number[] {
  if (!isKept(n)) return [n + 1];
  return hasPlace ? [] : [n + 1, n + 2];
}

/** It will be judged the same for the rest of this run. */
const isDone = (other: Stored | undefined, run: string): boolean =>
  other?.record.state.tag === "committed" && other.record.runs.includes(run);
