/**
 * Operations of which a caller was told that their outcome is open. A model that was told so and words its wish anew
 * would do twice what was wanted once; plain code that goes on with the next item would not.
 *
 * They have places (`ledger/places.ts`) for each thread (or scope, where there is none), tool and resource.
 *
 * @module
 */

import type { Engine } from "../engine/engine.ts";
import { about, type Operation } from "../engine/operation/operation.ts";
import { askStore, inStoreTime } from "../engine/store-call.ts";
import { digestText } from "../key/digest.ts";
import { threadOf } from "../key/turn.ts";
import { putBounded } from "../lang/bounded.ts";
import { type Places, placesOf } from "../ledger/places.ts";
import type { Stored } from "../ledger/record.ts";

const MOST_NAMES = 1_000;

export interface ToldOpen {
  add(operation: Operation, engine: Engine): Promise<void>;
  /** The first word of `judge` on another operation that a model was told of, in an earlier step. */
  firstOf<T>(
    operation: Operation,
    judge: (other: Stored) => T | undefined,
    engine: Engine,
  ): Promise<T | undefined>;
  /** Warns of one that this process has told of, once. */
  warn(operation: Operation, engine: Engine): void;
}

export function createToldOpen(): ToldOpen {
  /** Those that no call was warned of yet, by the name of their places. */
  const unwarned = new Map<string, Set<string>>();

  function warnOf(operation: Operation, other: string, name: string, engine: Engine): void {
    if (!unwarned.get(name)?.delete(other)) return;
    engine.events.emit("warning", () => ({ ...about(operation), code: "sibling_unknown", other }));
  }

  return {
    async add(operation, engine) {
      const { ref, scope, draft } = operation;
      if (scope === "") return;
      const name = placesName(operation, engine);
      const ids = unwarned.get(name) ?? new Set();
      putBounded(unwarned, name, ids.add(ref.id), MOST_NAMES);
      // Enlisted, its place would stand in a transaction that others would have to wait for.
      if (draft.identity.step === undefined || engine.enlisted) return;
      const ask = <T>(question: Promise<T>): Promise<T> => question;
      const isIn = async (id: string) => (id === ref.id ? true : undefined);
      const adding = placesIn(operation, name, engine, ask).join(ref.id, isIn);
      const added = await inStoreTime(engine, adding);
      if (added.tag === "done") return;
      const error = added.tag === "failed" ? added.error : undefined;
      engine.events.emit("store", () => ({ status: "error", step: "told", error }));
    },

    firstOf(operation, judge, engine) {
      const { ref, draft } = operation;
      const { step } = draft.identity;
      if (step === undefined) return Promise.resolve(undefined);
      const name = placesName(operation, engine);
      const ask = <T>(question: Promise<T>): Promise<T> => askStore(engine, "drift", question);
      return placesIn(operation, name, engine, ask).find(async (id) => {
        const { tenant } = ref;
        const other = id === ref.id ? undefined : await ask(engine.ledger.read({ tenant, id }));
        if (other?.record.step !== step) return other && judge(other);
        warnOf(operation, id, name, engine);
        return undefined;
      });
    },

    warn(operation, engine) {
      if (unwarned.size === 0 || operation.scope === "") return;
      const name = placesName(operation, engine);
      const others = unwarned.get(name) ?? [];
      const other = [...others].find((id) => id !== operation.ref.id);
      if (other !== undefined) warnOf(operation, other, name, engine);
    },
  };
}

const placesIn = (
  { ref }: Operation,
  name: string,
  { ledger }: Engine,
  ask: <T>(question: Promise<T>) => Promise<T>,
): Places => placesOf({ store: ledger.store, tenant: ref.tenant, name }, ask);

function placesName({ ref, scope, tool, draft }: Operation, { app }: Engine): string {
  const { resource } = draft.identity;
  return digestText("told-open", app, ref.tenant, threadOf(scope) ?? scope, tool.name, resource);
}
