/**
 * What the service says, and what tools make of it: a no, a status that is not looked at, a token that has run out.
 *
 * @module
 */

import { faults } from "../../../src/testing/faulty-service.ts";
import { type FaultCase, first, metFault, notForSdk, ONE, wish } from "../fault.ts";

export const service: readonly FaultCase[] = [
  {
    id: "declined",
    name: "declined (402)",
    group: "service",
    wishes: [wish("w1", "tea", false)],
    async play(stage, wishes) {
      await stage.plan(faults.storedFailure({ status: 402 }));
      await stage.call(stage.ask(first(wishes)));
    },
    wasMet: metFault("stored_failure"),
  },
  {
    id: "status_swallowed",
    name: "503 that the tool does not look at",
    group: "service",
    wishes: ONE,
    tool: { mistake: "swallows_status" },
    notFor: notForSdk,
    async play(stage, wishes) {
      await stage.plan(faults.status({ status: 503 }));
      await stage.call(stage.ask(first(wishes)));
    },
    wasMet: metFault("status"),
  },
  {
    id: "oauth_refresh",
    name: "OAuth refresh, then reply lost",
    group: "service",
    wishes: ONE,
    tool: { also: "oauth" },
    notFor: notForSdk,
    async play(stage, wishes) {
      await stage.plan(faults.status({ status: 401 }), faults.hangUp({ commit: true }));
      await stage.call(stage.ask(first(wishes)));
    },
    wasMet: metFault("hang_up"),
  },
  {
    id: "telemetry",
    name: "telemetry beside it, and reply lost",
    group: "service",
    wishes: ONE,
    tool: { also: "telemetry" },
    notFor: notForSdk,
    async play(stage, wishes) {
      await stage.plan(faults.hangUp({ commit: true }));
      await stage.call(stage.ask(first(wishes)));
    },
    wasMet: metFault("hang_up"),
  },
];
