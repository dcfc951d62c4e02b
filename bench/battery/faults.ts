/**
 * All faults of the battery, in the order of the table, and what is not built.
 *
 * @module
 */

import { type FaultCase, first, ONE } from "./fault.ts";
import { agent } from "./faults/agent.ts";
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
  ...processes,
];

/** Faults that were asked for and are not in the matrix, with where else they are tested. */
export const NOT_BUILT: readonly string[] = [
  "a second branch of the tool that sends late (tested for holdfire alone: test/scenarios/late-send.test.ts)",
  "a shared queue that runs one call's request in another's context (test/scenarios/whose-request.test.ts)",
  "a host that sleeps (test/scenarios/two-clocks.test.ts)",
  "a changed plan between a person's yes and the call: no other stack has a gate (test/gate)",
  "SIGKILL inside a write to the ledger, and inside recovery: no other stack has such points (test/crash)",
];
