/**
 * The model-based proof: random sequences of calls, faults and people against the simulated world,
 * then calm, then the checker. In a proof the parts share 100,000 sequences, two parts at a time; elsewhere the
 * first runs 2,000 alone.
 *
 * `RUNS` sets the number of sequences in all, `SEED` where they begin. A failure prints its seed, its
 * path and the shrunk commands; `FC_PATH` and `FC_REPLAY_PATH`, on that part alone, run it again.
 */

import { env } from "node:process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isProof, sized } from "../proof.ts";
import { commands } from "./commands.ts";
import { describeAll, judge } from "./judge.ts";
import { required } from "./required.ts";
import { casts } from "./wishes.ts";
import { createHits } from "./world/fates.ts";
import { createWorld } from "./world/world.ts";

const RUNS = sized("RUNS", 100_000, 2_000);
const SEED = Number(env.SEED ?? 20_261_116);
/** How often each fault must have been met in this many sequences. The rarest comes about once in 200. */
const enoughIn = (runs: number): number => (runs >= 5_000 ? 20 : Math.floor(runs / 1_000));

export function modelPart(part: number, parts: number): void {
  const runs = isProof ? Math.ceil(RUNS / parts) : RUNS;
  const enough = enoughIn(runs);
  const which = `part ${part} of ${isProof ? parts : 1}`;
  const seed = SEED + part;
  const hits = createHits();
  const path = env.FC_PATH;

  test(`no sequence of faults breaks an invariant (${runs} sequences, ${which})`, {
    timeout: 3_600_000,
  }, async () => {
    let sequences = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer(),
        casts,
        commands(12, env.FC_REPLAY_PATH),
        async (chance, cast, those) => {
          sequences += 1;
          // On some worlds the disk is slow: what a power cut finds unsynced is then more.
          const world = createWorld({
            seed: chance,
            hits,
            syncMs: chance % 3 === 0 ? 120 : undefined,
            // And on some the store may forget.
            forgets: chance % 4 === 1,
          });
          await fc.asyncModelRun(
            () => ({ model: { frozen: new Set<number>(), cast }, real: world }),
            those,
          );
          const violations = await judge(world, hits);
          if (violations.length > 0) throw new Error(describeAll(violations));
        },
      ),
      { numRuns: runs, seed, ...(path ? { path } : {}) },
    );
    console.log(`model, ${which}: ${sequences} sequences, SEED=${SEED}, 0 violations`);
  });

  // A run that is too small to meet every fault is not judged by that, and is seen to be skipped.
  test.skipIf(enough === 0)(
    `every fault and every reason was met at least ${enough} times (${which})`,
    () => {
      expect(required.filter((what) => hits.count(what) < enough)).toEqual([]);
    },
  );
}
