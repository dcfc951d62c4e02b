/** The end of every sequence: calm, the checker, and the count of what was met. */

import { check, type Violation } from "./checker.ts";
import { converge } from "./liveness.ts";
import type { Hits } from "./world/fates.ts";
import type { World } from "./world/world.ts";

/** Lets the world come to rest and asks the checker. */
export async function judge(world: World, hits: Hits): Promise<readonly Violation[]> {
  const found: Violation[] = [];
  await converge(world, (invariant, detail) => void found.push({ invariant, detail }));
  const { service, network, store, calls, resolved, forgotten, clocksSet } = world;
  const { effects } = service;
  const { sends } = network;
  const dump = await store.dump();
  countReasons(world, hits);
  // Nothing of it is to be remembered.
  for (const process of world.processes) process.crash();
  const { history } = store;
  return [
    ...check({
      sends,
      effects,
      history,
      dump,
      calls,
      resolved,
      forgotten,
      clocksSet,
      storeTroubledAt: store.troubledAt(),
    }),
    ...found,
  ];
}

function countReasons({ calls, store }: World, hits: Hits): void {
  for (const { outcome } of calls) {
    if (!outcome) continue;
    hits.hit(`outcome:${outcome.status}`);
    if (outcome.status === "unknown") hits.hit(`unknown:${outcome.reason}`);
    if (outcome.status === "in_progress") hits.hit(`in_progress:${outcome.reason}`);
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
    if (
      state?.tag === "claimed" &&
      before?.state.tag === "claimed" &&
      before.state.holder !== state.holder
    ) {
      hits.hit("takeover");
    }
    if (state?.tag === "unknown" && state.reason === "owner_lost") hits.hit("unknown:owner-lost");
  }
}

export const describeAll = (violations: readonly Violation[]): string =>
  violations.map(({ invariant, detail }) => `${invariant}: ${detail}`).join("\n");
