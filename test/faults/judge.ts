/**
 * Judges a stream of calls by the service's logs and by what every caller was told. It knows nothing
 * of holdfire, nor of the trouble.
 *
 * @module
 */

import type { Arrival, LoggedEffect } from "../../src/testing/faulty-service.ts";
import type { Told } from "./streamer.ts";

/** Nothing was sent, says this error. */
const NOT_SENT = "ERR_HOLDFIRE_STORE_UNAVAILABLE";
const WORDS = ["committed", "not_applied", "unknown", "in_progress", NOT_SENT];

export interface Evidence {
  readonly told: readonly Told[];
  /** What was told when all was over, and every call was made once more. */
  readonly again: readonly Told[];
  readonly arrivals: readonly Arrival[];
  readonly effects: readonly LoggedEffect[];
}

/** Every sentence is a promise broken. */
export function judge({ told, again, arrivals, effects }: Evidence): readonly string[] {
  const found: string[] = [];
  const claim = (isSo: boolean, broken: string): void => {
    if (!isSo) found.push(broken);
  };
  const byItem = grouped(told, ({ item }) => item);
  const arrivalsOf = grouped(arrivals, ({ intent }) => itemOf(intent));
  const effectsOf = grouped(effects, ({ intent }) => itemOf(intent));

  for (const item of arrivalsOf.keys()) {
    claim(byItem.has(String(item)), `${item}: sent, and nobody was told`);
  }
  for (const [item, answers] of byItem) {
    const mine = effectsOf.get(item) ?? [];
    const sends = arrivalsOf.get(item) ?? [];
    const last = answers.at(-1);
    const say = `${item} (${last?.class})`;
    claim(last?.isLast === true, `${say}: was never told how it ended`);
    claim(mine.length <= 1, `${say}: happened ${mine.length} times`);
    if (last?.class === "neither") claim(sends.length <= 1, `${say}: sent ${sends.length} times`);
    else claim(last?.status === "committed", `${say}: ended ${last?.status}`);
    const repeated = again.find((one) => one.item === item);
    claim(repeated !== undefined, `${say}: was not asked for again`);
    if (last?.status === "committed") {
      claim(repeated?.effectId === last.effectId, `${say}: committed, then ${repeated?.status}`);
      claim(!sends.some((send) => send.at > last.at), `${say}: committed, and sent again`);
    }
    for (const [index, { status, effectId, at }] of answers.entries()) {
      claim(WORDS.includes(status), `${say}: told ${status}`);
      if (status === "committed") {
        claim(effectId !== undefined && mine[0]?.effectId === effectId, `${say}: another effect`);
      }
      if (status === "not_applied") claim(mine.length === 0, `${say}: ${status}, and it happened`);
      const isUnsent = answers.slice(0, index + 1).every((one) => one.status === NOT_SENT);
      if (isUnsent) claim(!sends.some((send) => send.at < at), `${say}: not sent, and it was`);
    }
  }
  return found;
}

function itemOf(intent: unknown): unknown {
  return typeof intent === "object" && intent !== null && "item" in intent
    ? intent.item
    : undefined;
}

export function grouped<T, K>(
  all: readonly T[],
  keyOf: (one: T) => K,
): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one)) ?? [];
    group.push(one);
    groups.set(keyOf(one), group);
  }
  return groups;
}
