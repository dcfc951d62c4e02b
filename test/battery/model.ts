/**
 * The model-based proof: random sequences of calls, faults and people against the simulated world,
 * then calm, then the checker. One part of the run; the parts share the count.
 *
 * `RUNS` sets the number of sequences in all, `SEED` where they begin. A failure prints its seed, its
 * path and the shrunk commands; `FC_PATH` and `FC_REPLAY_PATH`, on that part alone, run it again.
 */

import { env } from "node:process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { casts, commands } from "./commands.ts";
import { describeAll, judge } from "./judge.ts";
import { required } from "./required.ts";
import { createHits } from "./world/fates.ts";
import { createWorld } from "./world/world.ts";

const RUNS = Number(env.RUNS ?? 20_000);
const SEED = Number(env.SEED ?? 20_261_116);
const ENOUGH = 20;

export function modelPart(part: number, parts: number): void {
  const runs = Math.ceil(RUNS / parts);
  const seed = SEED + part;
  const hits = createHits();
  const path = env.FC_PATH;

  test(`no sequence of faults breaks an invariant (part ${part} of ${parts})`, {
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
    console.log(`model part ${part}/${parts}: ${sequences} sequences, SEED=${SEED}, 0 violations`);
  });

  test(`every fault and every reason was met at least ${ENOUGH} times (part ${part} of ${parts})`, () => {
    const missed = required.filter((what) => hits.count(what) < ENOUGH);
    // A smaller run than the default proves less, and says so.
    if (runs * parts < 20_000) console.log(`too few runs to be judged; missed: ${missed}`);
    else expect(missed).toEqual([]);
  });
}
