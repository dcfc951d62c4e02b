/** A person who looks at the service and settles, truthfully, what nobody else could; and who answers questions. */

import { createHoldfire, type Holdfire } from "../../../src/create.ts";
import { memoryWitness } from "../../../src/ledger/witness/witness.ts";
import { PERSON } from "./store.ts";
import type { World } from "./world.ts";

const atTheStore = ({ store, time }: World): Holdfire =>
  createHoldfire({
    store: store.beside(),
    witness: memoryWitness(),
    surroundings: { clock: time.host(PERSON).clock },
  });

/** Lets the first call pass that is held because another wording of it may have happened. Returns its name. */
export async function approver(world: World): Promise<string | undefined> {
  const { approvals } = atTheStore(world);
  const { items } = await approvals.list();
  const open = items.find(({ answered }) => !answered);
  if (!open) return undefined;
  const { operation, digest } = open;
  // By a clock that was set, the question may have expired.
  const answered = approvals.approve(operation.id, { digest, by: PERSON }).then(() => true);
  if (!(await answered.catch(() => false))) return undefined;
  world.hits.hit("person:approved");
  return operation.aliases[0];
}

/**
 * Takes the first operation that is open and whose truth can no longer change. Sits beside the store:
 * between the look and the word no time passes, so the word is true when it is given.
 */
export async function person(world: World): Promise<void> {
  const { service, store, hits, resolved, time, clocksSet } = world;
  const hf = atTheStore(world);
  for (const record of await store.dump()) {
    const { tag } = record.state;
    const op = record.aliases[0] ?? "";
    if (record.tool === "X" || (tag !== "unknown" && tag !== "claimed")) continue;
    const happened = service.exists(op);
    // While something is under way even a person cannot say that it will not happen.
    if (!happened && service.pending(op) > 0) continue;
    // Nor before the time until which its last attempt may send.
    if (!happened && (store.endOf(op) >= time.now() || clocksSet.size > 0)) continue;
    const as = happened ? "committed" : "not_applied";
    const said = await hf.operations.resolve(record.id, { as, by: PERSON }).catch(() => undefined);
    if (!said) continue;
    hits.hit(`person:${as}`);
    if (as === "not_applied") resolved.set(op, (resolved.get(op) ?? 0) + 1);
    return;
  }
}
