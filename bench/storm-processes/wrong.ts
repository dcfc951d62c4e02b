/**
 * What happened to the wishes that went wrong, in the order of time: so that a failed storm says where to look.
 *
 * @module
 */

import { type Evidence, judge, verdictOf } from "../battery/judge.ts";

const MOST = 20;

export function wrongIn(evidence: Evidence): readonly string[] {
  const wrong: string[] = [];
  for (const wish of evidence.wishes) {
    if (wrong.length === MOST) break;
    const own = ofWish(wish.name, wish.item, evidence);
    const verdict = verdictOf(judge({ ...own, wishes: [wish] }));
    if (verdict !== "ok") {
      wrong.push(
        `${wish.name}, ${verdict}: ${historyOf(own)}; in the end ${own.standing[wish.name]}`,
      );
    }
  }
  return wrong;
}

function ofWish(name: string, item: string, evidence: Evidence): Evidence {
  const isOwn = ({ intent }: { readonly intent: unknown }): boolean =>
    (intent as { readonly item?: unknown } | undefined)?.item === item;
  return {
    ...evidence,
    told: evidence.told.filter(({ wish }) => wish === name),
    arrivals: evidence.arrivals.filter(isOwn),
    effects: evidence.effects.filter(isOwn),
  };
}

/** Times in milliseconds after the first arrival. */
function historyOf({ arrivals, effects, told }: Evidence): string {
  const start = arrivals[0]?.at ?? 0;
  const took = new Set(effects.map(({ arrival }) => arrival));
  const events = [
    ...arrivals.map(({ at, seq, fault }) => ({
      at,
      says: `arrived, ${fault?.tag ?? "no fault"}${took.has(seq) ? ", took effect" : ""}`,
    })),
    ...told.map(({ at, words }) => ({ at, says: `told "${words}"` })),
  ];
  return events
    .sort((one, other) => one.at - other.at)
    .map(({ at, says }) => `${at - start} ms ${says}`)
    .join("; ");
}
