/**
 * Judges a trial by what the service logged, what the ledger listed and what callers were told. It
 * knows nothing of how holdfire works.
 *
 * @module
 */

import type { Arrival, LoggedEffect } from "../../src/testing/faulty-service.ts";
import { mayBeLeft, mayEnd } from "./points.ts";
import type { Listed, Verdict } from "./recoverer.ts";
import type { Trial } from "./trial.ts";

/** All that is known of one trial, by those who saw it. */
export interface Evidence {
  readonly trial: Trial;
  /** Who came to its spot. */
  readonly reached: ReadonlySet<string>;
  /** The wishes that were granted before the crash, with their effects. */
  readonly granted: Readonly<Record<string, string | undefined>>;
  /** The ledger as the crash left it. */
  readonly left: readonly Listed[];
  /** How many requests had arrived by then. */
  readonly arrivalsLeft: number;
  readonly verdicts: readonly Verdict[];
  /** How many requests had arrived when all was recovered. */
  readonly arrivalsRecovered: number;
  /** What the same callers were told when they asked once more, and the ledger then. */
  readonly repeated: readonly Verdict[];
  readonly ledger: readonly Listed[];
  readonly yesesTaken: readonly string[];
  readonly suspicions: readonly string[];
  /** The service's logs, at the very end. */
  readonly arrivals: readonly Arrival[];
  readonly effects: readonly LoggedEffect[];
}

/** Every sentence is a promise broken. */
export function judge(evidence: Evidence): readonly string[] {
  const { trial, verdicts, repeated, ledger, arrivals, effects } = evidence;
  const found: string[] = [];
  const claim = (isSo: boolean, broken: () => string): void => {
    if (!isSo) found.push(`${trial.id}: ${broken()}`);
  };
  const keys = new Map<string, string>();

  for (const wish of trial.wishes) {
    const { name, spot, attempt } = wish;
    const mine = effects.filter(({ intent }) => itemOf(intent) === name);
    const sends = arrivals.filter(({ intent }) => itemOf(intent) === name);
    const told = verdicts.find((one) => one.name === name);
    const toldAgain = repeated.find((one) => one.name === name);
    const listed = ledger.find(({ id }) => id === told?.id);
    const left = evidence.left.find(({ id }) => id === told?.id);

    claim(mine.length <= 1, () => `${name}: happened ${mine.length} times`);
    claim(told !== undefined && toldAgain !== undefined, () => `${name}: nobody was told`);
    if (!told || !toldAgain) continue;

    if (wish.class === "neither") {
      claim(sends.length <= 1, () => `${name}: sent ${sends.length} times, and nobody can tell`);
    }
    for (const { key = "none" } of sends) {
      claim(key === told.key, () => `${name}: sent under ${key}, not under ${told.key}`);
    }
    claim(!keys.has(told.key), () => `${name}: shares its key with ${keys.get(told.key)}`);
    keys.set(told.key, name);

    if (told.status === "committed") {
      claim(mine.length > 0, () => `${name}: committed, and did not happen`);
      const known = mine.some(({ effectId }) => effectId === told.effectId);
      claim(known, () => `${name}: told of another effect`);
    }
    if (told.status === "not_applied") {
      claim(mine.length === 0, () => `${name}: not applied, and it happened`);
    }
    claim(
      toldAgain.status === told.status && toldAgain.effectId === told.effectId,
      () => `${name}: ${told.status} at first, ${toldAgain.status} when asked again`,
    );
    claim(
      told.status === "unknown" ? listed?.open === true : listed?.status === told.status,
      () => `${name}: told ${told.status}, and the ledger says ${listed?.status}`,
    );

    const sentBefore = sends.some((send) => arrivals.indexOf(send) < evidence.arrivalsLeft);
    claim(left !== undefined || !sentBefore, () => `${name}: sent without a record`);
    if (spot === undefined) {
      const effectId = evidence.granted[name];
      claim(effectId !== undefined, () => `${name}: was not granted before the crash`);
      claim(told.effectId === effectId, () => `${name}: granted, and forgotten`);
      continue;
    }
    claim(evidence.reached.has(name), () => `${name}: never came to ${spot}`);
    const mayLeave = mayBeLeft(spot, trial.point, attempt);
    const status = left?.status ?? "absent";
    claim(mayLeave.includes(status), () => `${name}: ${spot} left it ${status}`);
    const ends = mayEnd(wish.class, spot, trial.point);
    claim(ends.includes(told.status), () => `${name}: ${told.status} (${told.reason}) at ${spot}`);
  }
  claim(
    evidence.arrivalsRecovered === arrivals.length,
    () => `${arrivals.length - evidence.arrivalsRecovered} requests for what was settled`,
  );
  claim(evidence.yesesTaken.length === 0, () => `${evidence.yesesTaken.length} yeses taken twice`);
  claim(
    evidence.suspicions.length === 0,
    () => `the store is suspected: ${evidence.suspicions[0]}`,
  );
  return found;
}

function itemOf(intent: unknown): unknown {
  return typeof intent === "object" && intent !== null && "item" in intent
    ? intent.item
    : undefined;
}
