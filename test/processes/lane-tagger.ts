/**
 * One of several processes whose agents add tags to the same record, by reading and replacing them.
 *
 * @module
 */

import { createHoldfire } from "../../src/create.ts";
import { fileWitness } from "../../src/ledger/witness/witness-file.ts";
import { hangUp, hear, tell } from "./parent.ts";
import { openPlace, type Place } from "./place.ts";

export interface TagOrder {
  readonly tag: "add-tags";
  readonly place: Place;
  readonly witness: string;
  readonly url: string;
  readonly lanes: boolean;
  /** The tags each agent adds, one after the other. Agents work at the same time. */
  readonly agents: readonly (readonly string[])[];
  /** Die while this tag is being written. */
  readonly dieAt?: string | undefined;
  /** @default as usual */
  readonly attemptTimeoutMs?: number | undefined;
}

export interface TagReport {
  readonly tag: "added";
  /** What became of it, where it was not done. */
  readonly undone: readonly string[];
}

const order = await hear<TagOrder>("add-tags");
const { store, end } = await openPlace(order.place);
const { attemptTimeoutMs } = order;
const hf = createHoldfire({
  store,
  witness: fileWitness({ folder: order.witness }),
  // Given one, the shortest lease there is: how long the dead are believed alive.
  retry: attemptTimeoutMs === undefined ? undefined : { leaseMs: 1_000 },
});
const add = hf.tool({
  name: "add_tag",
  kind: "write",
  ...(order.lanes && { resource: () => "record/1" }),
  deadlineMs: 120_000,
  attemptTimeoutMs,
  run: async ({ tag }: { readonly tag: string }, { key, signal }) => {
    const headers = { "idempotency-key": key };
    const tags = (await (await fetch(order.url, { headers, signal })).json()) as string[];
    if (tag === order.dieAt) process.kill(process.pid, "SIGKILL");
    const body = JSON.stringify([...tags, tag]);
    const written = await fetch(order.url, { method: "PUT", headers, body, signal });
    await written.arrayBuffer();
    return tags.length + 1;
  },
});

await tell({ tag: "ready" });
await hear("go");
const undone: string[] = [];
const work = async (tags: readonly string[]): Promise<void> => {
  for (const tag of tags) {
    const outcome = await add.outcome({ tag }, { scope: `request/${tag}` });
    if (outcome.status === "committed") continue;
    const blockedBy = outcome.status === "held" ? (outcome.blockedBy ?? "") : "";
    undone.push(`${tag}: ${outcome.status} ${blockedBy}`.trim());
  }
};
await Promise.all(order.agents.map(work));
await tell<TagReport>({ tag: "added", undone });
await hf.close();
await end();
hangUp();
