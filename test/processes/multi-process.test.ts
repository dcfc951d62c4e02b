import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Fault, faults, startFaultyService } from "../../src/testing/faulty-service.ts";
import { createChance } from "../battery/world/chance.ts";
import { SIZE, sized } from "../proof.ts";
import { findGround, type Ground } from "./ground.ts";
import { STORES } from "./place.ts";
import { race } from "./race.ts";

const PROCESSES = sized("PROCESSES", 8, 3);
const KEYS = sized("KEYS", 500);
const AT_ONCE = 50;
const SEED = Number(process.env.SEED ?? 1);

const items = Array.from({ length: KEYS }, (_, index) => `item ${index}`);
const say = (line: string): boolean => process.stdout.write(`${line}\n`);

/** Per request: a tenth lost after the effect, a twentieth before it, a few never answered. */
function lossy(seed: number, count: number): Fault[] {
  const { next } = createChance(seed);
  return Array.from({ length: count }, (): Fault => {
    const chance = next();
    if (chance < 0.1) return faults.commitThenReset();
    if (chance < 0.15) return faults.resetBefore();
    if (chance < 0.17) return faults.blackHole({ commit: chance < 0.16 });
    // As without a fault.
    return faults.slow({ ms: 0, commit: "before" });
  });
}

describe.each(STORES)(
  `${PROCESSES} processes, ${KEYS} keys on one ledger in %s (${SIZE})`,
  (store) => {
    let ground: Ground | undefined;
    beforeAll(async () => {
      ground = await findGround(store);
    });
    afterAll(() => ground?.stop());

    test("ask for the same things: each is done once, and all are told the same", async (context) => {
      if (!ground) return context.skip();
      await using service = await startFaultyService();
      const raced = await race({
        processes: PROCESSES,
        items,
        place: await ground.ledger(0),
        service,
        toolClass: "neither",
        atOnce: AT_ONCE,
      });
      say(
        `multi-process: ${store} ${PROCESSES}×${KEYS}: ${raced.effects} effects, ${raced.waits} waits, ${raced.duplicates} duplicates`,
      );
      expect(raced.suspicions).toEqual([]);
      expect(raced.lost).toEqual([]);
      expect(raced.disagreements.slice(0, 5)).toEqual([]);
      expect(raced).toMatchObject({ effects: KEYS, arrivals: KEYS, fired: KEYS, duplicates: 0 });
      expect(raced.told.filter(({ replayed }) => !replayed)).toHaveLength(KEYS);
      expect(raced.waits).toBeGreaterThan(0);
    }, 120_000);

    test("lose replies and requests: each is still done once, under one key", async (context) => {
      if (!ground) return context.skip();
      await using service = await startFaultyService();
      service.plan(...lossy(SEED, KEYS));
      const raced = await race({
        processes: PROCESSES,
        items,
        place: await ground.ledger(1),
        service,
        toolClass: "keyed_readable",
        atOnce: AT_ONCE,
      });
      say(
        `multi-process: ${store} ${PROCESSES}×${KEYS}, lossy (seed ${SEED}): ${raced.effects} effects, ${raced.arrivals} requests, ${raced.waits} waits, ${raced.duplicates} duplicates`,
      );
      expect(raced.suspicions).toEqual([]);
      expect(raced.disagreements.slice(0, 5)).toEqual([]);
      expect(raced).toMatchObject({ effects: KEYS, duplicates: 0 });
      expect(new Set(service.arrivals.map(({ key }) => key)).size).toBe(KEYS);
    }, 120_000);
  },
);
