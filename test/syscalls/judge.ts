/**
 * Judges one struck call by the service's logs, the ledger and what callers were told. It knows nothing
 * of how holdfire works.
 *
 * @module
 */

import type { Arrival, LoggedEffect } from "../../src/testing/faulty-service.ts";
import type { Recovery } from "./recoverer.ts";
import type { Fault, Struck } from "./strike.ts";
import type { Swept } from "./tools.ts";

export interface Evidence {
  readonly swept: Swept;
  readonly fault: Fault;
  readonly struck: Struck;
  /** What had happened when recovery began. */
  readonly effectsLeft: readonly LoggedEffect[];
  readonly recovery: Recovery | undefined;
  /** All that arrived for this item, and all that happened, at the very end. */
  readonly arrivals: readonly Arrival[];
  readonly effects: readonly LoggedEffect[];
}

/** Every sentence is a promise broken. */
export function judge(evidence: Evidence): readonly string[] {
  const { swept, fault, struck, recovery, effectsLeft, arrivals, effects } = evidence;
  const { point, told, ended } = struck;
  const found: string[] = [];
  const at = `${swept.class}, ${fault} at ${point?.call} ${point?.nth} on ${point?.target}`;
  const claim = (isSo: boolean, broken: string): void => {
    if (!isSo) found.push(`${at}: ${broken}`);
  };
  const isOne = (effectId: string | undefined): boolean =>
    effects.some((effect) => effect.effectId === effectId);

  claim(effects.length <= 1, `happened ${effects.length} times`);
  if (swept.class === "neither") claim(arrivals.length <= 1, `sent ${arrivals.length} times`);
  // Node itself cannot live with an error where it wakes its own threads; nor can this test where it tells.
  if (fault === "error" && point?.target !== "other" && point?.target !== "caller") {
    claim(ended.code === 0, `ended the process (${ended.signal ?? ended.code}): ${ended.stderr}`);
    claim(told !== undefined, "nobody was told");
  }
  switch (told?.status) {
    case undefined:
    case "unknown":
      break;
    case "committed":
      claim(isOne(told?.effectId), "told as committed, and it did not happen");
      break;
    case "not_applied":
    case "ERR_HOLDFIRE_STORE_UNAVAILABLE":
      claim(effectsLeft.length === 0, `told ${told?.status}, and it happened`);
      break;
    default:
      claim(false, `told ${told?.status}`);
  }

  claim(recovery?.failed === undefined, `the ledger cannot be used: ${recovery?.failed}`);
  const end = recovery?.told.at(-1);
  const again = recovery?.again;
  if (!recovery || !end || !again) return [...found, `${at}: was not recovered`];
  claim(recovery.suspicions.length === 0, `the store is suspected: ${recovery.suspicions[0]}`);
  claim(
    again.status === end.status && again.effectId === end.effectId,
    `${end.status} at first, ${again.status} when asked again`,
  );
  if (told?.status === "committed") {
    claim(end.effectId === told.effectId, `told as committed, and forgotten: ${end.status}`);
  }
  if (recovery.told.some(({ status }) => status === "not_applied")) {
    claim(effectsLeft.length === 0, "told as not applied when recovered, and it had happened");
  }
  if (swept.class !== "neither") claim(end.status === "committed", `ended ${end.status}`);
  if (end.status === "committed") claim(isOne(end.effectId), "committed, and did not happen");
  if (end.status === "not_applied") claim(effects.length === 0, "not applied, and it happened");
  const listed = recovery.ledger.filter(({ id }) => id === end.id);
  claim(listed.length === 1, `${listed.length} records`);
  claim(listed[0]?.status === end.status, `told ${end.status}, recorded ${listed[0]?.status}`);
  return found;
}
