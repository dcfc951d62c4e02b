/**
 * All faults of the battery, in the order of the table, and what is not built.
 *
 * @module
 */

import { type FaultCase, first, ONE } from "./fault.ts";
import { agent } from "./faults/agent.ts";
import { kills } from "./faults/kills.ts";
import { network } from "./faults/network.ts";
import { processes } from "./faults/process.ts";
import { reader } from "./faults/reader.ts";
import { service } from "./faults/service.ts";

/** No fault: each stack's own test of a success. It comes first; a column that fails it is void. */
export const SUCCESS: FaultCase = {
  id: "success",
  name: "no fault",
  group: "network",
  wishes: ONE,
  async play(stage, wishes) {
    await stage.call(stage.ask(first(wishes)));
  },
  wasMet: ({ evidence }) => evidence.told.length > 0,
};

export const FAULTS: readonly FaultCase[] = [
  ...network,
  ...reader,
  ...service,
  ...agent,
  ...kills,
  ...processes,
];

/** Faults that were asked for and are not in the matrix, with where else they are tested. */
export const NOT_BUILT: readonly string[] = [
  "a host whose clock jumps while it sleeps: a process cannot set the clock (test/scenarios/two-clocks.test.ts)",
  "a plan that changes between a person's yes and the call: no other stack has a gate (test/gate)",
  "SIGKILL inside the ledger writes of the other stacks: they offer no such point; all eleven points of holdfire are in test/crash",
];
