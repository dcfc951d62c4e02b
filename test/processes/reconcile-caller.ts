/**
 * A process in the storm: asks for many things, and may be killed while it does.
 *
 * @module
 */

import { createHoldfire } from "../../src/create.ts";
import { fileWitness } from "../../src/ledger/witness/witness-file.ts";
import { atMost } from "./at-most.ts";
import { hangUp, hear, tell } from "./parent.ts";
import { openPlace, type Place } from "./place.ts";
import { classOf, LEASE_MS, stormTools } from "./reconcile-tools.ts";

export interface StormOrder {
  readonly tag: "storm";
  readonly place: Place;
  readonly witness: string;
  readonly url: string;
  readonly items: readonly string[];
  readonly atOnce: number;
}

const order = await hear<StormOrder>("storm");
const { store, end } = await openPlace(order.place);
const hf = createHoldfire({
  store,
  witness: fileWitness({ folder: order.witness }),
  retry: { leaseMs: LEASE_MS, minDelayMs: 1, maxDelayMs: 20, storeTimeoutMs: 20_000 },
});
const tools = stormTools({ hf, url: order.url });
await atMost(order.atOnce, [...order.items.entries()], ([n, item]) =>
  tools[classOf(n)].outcome({ item }, { scope: "storm" }),
);
await tell({ tag: "weathered" });
await hf.close();
await end();
hangUp();
