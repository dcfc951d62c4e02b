/**
 * A process that drops a bucket with a person's yes, and stops where it is told to, to be killed there.
 *
 * @module
 */

import { createHoldfire } from "../../src/create.ts";
import { absent, committed } from "../../src/engine/define/reading.ts";
import type { Store } from "../../src/ledger/store.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { hangUp, hear, tell } from "../processes/parent.ts";

export type StopAt = "asked" | "answered" | "claimed" | "sent" | "nowhere";

export interface Job {
  readonly tag: "job";
  readonly path: string;
  readonly url: string;
  /** What `confirm` says; without it, the question waits in the inbox. */
  readonly confirm: "yes" | "no" | "none";
  readonly stopAt: StopAt;
}

export interface Told {
  readonly tag: "told";
  readonly status: string;
  /** How often a person was asked. */
  readonly asked: number;
}

interface Done {
  readonly id: string;
}

const ATTEMPT_MS = 1_000;

/** Tells where it is, and waits there for ever. */
async function stop(): Promise<never> {
  await tell({ tag: "stopped" });
  return new Promise(() => setInterval(() => {}, ATTEMPT_MS));
}

/** Stops beside the claim: before it is written, or after. */
function stopping(store: Store, stopAt: StopAt): Store {
  const { swap } = store;
  return Object.assign(store, {
    swap: async (change: Parameters<Store["swap"]>[0]) => {
      const isClaim = change.record?.state.tag === "claimed";
      if (isClaim && stopAt === "answered") await stop();
      const swapped = await swap(change);
      if (isClaim && stopAt === "claimed") await stop();
      return swapped;
    },
  });
}

const { path, url, confirm, stopAt } = await hear<Job>("job");
let asked = 0;
const hf = createHoldfire({
  store: stopping(sqliteStore({ path }), stopAt),
  retry: { leaseMs: ATTEMPT_MS + 1_000 },
  ...(confirm !== "none" && {
    confirm: async () => {
      asked += 1;
      if (stopAt === "asked") await stop();
      return { approve: confirm === "yes", by: "ana" };
    },
  }),
});
const drop = hf.tool({
  name: "drop_bucket",
  kind: "destructive",
  attemptTimeoutMs: ATTEMPT_MS,
  commitsWithinMs: 100,
  plan: ({ bucket }: { readonly bucket: string }) => ({
    changes: [{ type: "delete", target: bucket }],
  }),
  async readState({ key, signal }) {
    const answer = await fetch(`${url}?key=${key}`, { signal });
    const found = (await answer.json()) as Done | null;
    return found === null ? absent() : committed(found, { effectId: found.id });
  },
  async run({ bucket }: { bucket: string }, { key, signal }) {
    const sent = { method: "POST", body: JSON.stringify({ bucket, key }), signal };
    const done = (await (await fetch(url, sent)).json()) as Done;
    if (stopAt === "sent") await stop();
    return done;
  },
});
const { status } = await drop.outcome({ bucket: "logs" }, { scope: "s", deadlineMs: 20_000 });
await tell<Told>({ tag: "told", status, asked });
await hf.close();
hangUp();
