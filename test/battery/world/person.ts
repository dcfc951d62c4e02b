/** A person who looks at the service and settles, truthfully, what nobody else could. */

import type { World } from "./world.ts";

/** Takes the first operation that is open and whose truth can no longer change. */
export async function person(world: World): Promise<void> {
  const { service, store, hits, resolved, time } = world;
  const process = world.processes.find((candidate) => !candidate.isFrozen());
  if (!process) return;
  for (const record of await store.dump()) {
    const { tag } = record.state;
    const op = record.aliases[0] ?? "";
    if (record.tool === "X" || (tag !== "unknown" && tag !== "claimed")) continue;
    const happened = service.exists(op);
    // While something is under way even a person cannot say that it will not happen.
    if (!happened && service.pending(op) > 0) continue;
    const as = happened ? "committed" : "not_applied";
    const before = store.history.length;
    const resolving = process.life().hf.operations.resolve(record.id, { as, by: "ana" });
    let refused = false;
    resolving.catch(() => {
      refused = true;
    });
    await time.advance(200);
    // The answer may be lost on the way; what the ledger says counts.
    const done = store.history.slice(before).some(({ id, after }) => {
      const state = id === record.id ? after?.state : undefined;
      return state !== undefined && "by" in state && state.by === "ana";
    });
    if (!done && refused) continue;
    hits.hit(`person:${as}`);
    if (as === "not_applied") resolved.set(op, (resolved.get(op) ?? 0) + 1);
    return;
  }
}
