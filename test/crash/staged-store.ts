/**
 * A store in which a doomed operation stops: before a write, with the write on its way, or after it.
 *
 * @module
 */

import type { OperationRecord } from "../../src/ledger/record.ts";
import type { Change, Store, Swapped } from "../../src/ledger/store.ts";
import type { Spot } from "./points.ts";
import { type Stage, standStill } from "./stage.ts";

/** What a write to the ledger means to its operation. */
type Step =
  /** The durable note of an attempt: the claim itself, or that of a later one. */
  | { readonly tag: "fire"; readonly attempt: number }
  | { readonly tag: "takeover" }
  | { readonly tag: "settle" }
  | { readonly tag: "other" };

export interface Doom {
  readonly spot: Spot;
  readonly attempt: number;
}

export function stagedStore(inner: Store, dooms: ReadonlyMap<string, Doom>, stage: Stage): Store {
  const noted = new Map<string, number>();

  const stepOf = ({ id, record }: Change): Step => {
    if (!record) return { tag: "other" };
    const { state, attempts, epoch } = record;
    if (state.tag === "committed" || state.tag === "not_applied" || state.tag === "unknown") {
      return { tag: "settle" };
    }
    const last = attempts.at(-1);
    if (state.tag !== "claimed" || !last) return { tag: "other" };
    if (last.epoch !== epoch) return { tag: "takeover" };
    return (noted.get(id) ?? 0) < last.n ? { tag: "fire", attempt: last.n } : { tag: "other" };
  };

  async function swap(change: Change): Promise<Swapped> {
    const name = nameOf(change.record);
    const doom = name === undefined ? undefined : dooms.get(name);
    const step = stepOf(change);
    if (name !== undefined && doom) {
      const { before, issued } = spotsOf(step, doom);
      if (before === doom.spot) {
        stage.reached(name);
        return standStill();
      }
      if (issued === doom.spot) {
        inner.swap(change).catch(() => {});
        stage.issued(name);
        return standStill();
      }
    }
    const swapped = await inner.swap(change);
    if (!swapped.ok) return swapped;
    if (step.tag === "fire") noted.set(change.id, step.attempt);
    if (name !== undefined && doom && spotsOf(step, doom).after === doom.spot) {
      stage.reached(name);
      return standStill();
    }
    return swapped;
  }

  return Object.assign(Object.create(inner) as Store, { swap });
}

interface Around {
  readonly before?: Spot;
  readonly issued?: Spot;
  readonly after?: Spot;
}

function spotsOf(step: Step, { attempt }: Doom): Around {
  switch (step.tag) {
    case "fire":
      if (step.attempt !== attempt) return {};
      return { before: "before-claim", issued: "claim-issued", after: "claimed" };
    case "takeover":
      return { before: "before-takeover", after: "taken-over" };
    case "settle":
      return { before: "before-settle", issued: "settle-issued", after: "settled" };
    case "other":
      return {};
  }
}

const ALIAS = "wish: ";

/** Each wish is called under this alias: the record tells by it whose it is. */
export const aliasOf = (name: string): string => `${ALIAS}${name}`;

const nameOf = (record: OperationRecord | undefined): string | undefined =>
  record?.aliases.find((alias) => alias.startsWith(ALIAS))?.slice(ALIAS.length);
