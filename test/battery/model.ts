/**
 * The model-based proof: random sequences of calls, faults and people against the simulated world,
 * then calm, then the checker. One part of the run; the parts share the count.
 */

import fc from "fast-check";
import { expect, test } from "vitest";
import { check, type Violation } from "./checker.ts";
import { casts, commands } from "./commands.ts";
import { converge } from "./liveness.ts";
import { required } from "./required.ts";
import { createHits, type Hits } from "./world/fates.ts";
import { createWorld, type World } from "./world/world.ts";

const RUNS = Number(process.env["RUNS"] ?? 20_000);
const SEED = Number(process.env["SEED"] ?? 20_261_116);
const ENOUGH = 20;

export function modelPart(part: number, parts: number): void {
  const runs = Math.ceil(RUNS / parts);
  const seed = SEED + part;
  const hits = createHits();
  const path = process.env["FC_PATH"];

  test(`no sequence of faults breaks an invariant (part ${part} of ${parts})`, { timeout: 3_600_000 }, async () => {
    let sequences = 0;
    await fc.assert(
      fc.asyncProperty(fc.integer(), casts, commands(12), async (chance, cast, those) => {
        sequences += 1;
        const world = createWorld({ seed: chance, hits });
        await fc.asyncModelRun(() => ({ model: { frozen: new Set<number>(), cast }, real: world }), those);
        const violations = await judge(world, hits);
        if (violations.length > 0) throw new Error(describeAll(violations));
      }),
      { numRuns: runs, seed, ...(path ? { path } : {}) },
    );
    if (process.env["HITS"]) console.log([...hits.all()].sort().map(([k, v]) => `${k}=${v}`).join("\n"));
    console.log(`model part ${part}/${parts}: ${sequences} sequences, SEED=${SEED}, 0 violations`);
  });

  test(`every fault and every reason was met at least ${ENOUGH} times (part ${part} of ${parts})`, () => {
    const missed = required.filter((what) => hits.count(what) < ENOUGH);
    // A smaller run than the default proves less, and says so.
    if (runs * parts < 20_000) console.log(`too few runs to be judged; missed: ${missed}`);
    else expect(missed).toEqual([]);
  });
}

/** Lets the world come to rest and asks the checker. */
export async function judge(world: World, hits: Hits): Promise<readonly Violation[]> {
  const found: Violation[] = [];
  await converge(world, (invariant, detail) => void found.push({ invariant, detail }));
  const { service, store, calls, resolved, forgotten } = world;
  const { sends, effects } = service;
  const dump = await store.dump();
  countReasons(world, hits);
  return [...check({ sends, effects, history: store.history, dump, calls, resolved, forgotten }), ...found];
}

function countReasons({ calls, store }: World, hits: Hits): void {
  for (const { outcome } of calls) {
    if (!outcome) continue;
    hits.hit(`outcome:${outcome.status}`);
    if (outcome.status === "unknown") hits.hit(`unknown:${outcome.reason}`);
    if (outcome.status === "not_applied") hits.hit(`not_applied:${outcome.reason}`);
    if (outcome.status === "committed" && outcome.resultLost) hits.hit("outcome:result-lost");
    if (!outcome.recorded) hits.hit("outcome:unrecorded");
    if (outcome.reworded) hits.hit("outcome:reworded");
  }
  for (const { before, after } of store.history) {
    const last = after?.attempts.at(-1);
    if (last && last.n !== before?.attempts.at(-1)?.n) hits.hit(`licence:${last.licence}`);
    const state = after?.state;
    if (state?.tag === "committed") hits.hit(`via:${state.via}`);
    if (state?.tag === "claimed" && before?.state.tag === "claimed" && before.state.holder !== state.holder) {
      hits.hit("takeover");
    }
    if (state?.tag === "unknown" && state.reason === "owner-lost") hits.hit("unknown:owner-lost");
  }
}

export const describeAll = (violations: readonly Violation[]): string =>
  violations.map(({ invariant, detail }) => `${invariant}: ${detail}`).join("\n");
