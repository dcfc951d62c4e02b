/**
 * What the network does to one call: its request or its reply is lost, late, cut or doubled.
 *
 * @module
 */

import { faults, type Fault as ServiceFault } from "../../../src/testing/faulty-service.ts";
import { type FaultCase, first, metFault, ONE, type Stage } from "../fault.ts";

/** One call, whose first request meets this fault. */
const once = (
  id: string,
  name: string,
  fault: (stage: Stage) => ServiceFault,
  tag: ServiceFault["tag"],
): FaultCase => ({
  id,
  name,
  group: "network",
  wishes: ONE,
  async play(stage, wishes) {
    await stage.plan(fault(stage));
    await stage.call(stage.ask(first(wishes)));
  },
  wasMet: metFault(tag),
});

const FRAMINGS = ["length", "chunked", "gzip"] as const;

export const network: readonly FaultCase[] = [
  once("reply_lost", "reply lost after commit", () => faults.hangUp({ commit: true }), "hang_up"),
  once("request_lost", "request lost", () => faults.hangUp({ commit: false }), "hang_up"),
  once("reset_after", "reset after commit", faults.commitThenReset, "commit_then_reset"),
  once("reset_before", "reset before commit", faults.resetBefore, "reset_before"),
  once(
    "error_after_commit",
    "503 after commit",
    () => faults.status({ status: 503, commit: true }),
    "status",
  ),
  once("slow", "slow past the timeout", () => faults.slow({ ms: 2_400, commit: "before" }), "slow"),
  once(
    "truncated",
    "truncated body",
    ({ random }) =>
      faults.truncatedBody({ framing: FRAMINGS[Math.floor(random() * 3)] ?? "length" }),
    "truncated_body",
  ),
  once(
    "black_hole",
    "black hole after commit",
    () => faults.blackHole({ commit: true }),
    "black_hole",
  ),
  once(
    "black_hole_lost",
    "black hole before commit",
    () => faults.blackHole({ commit: false }),
    "black_hole",
  ),
  once(
    "duplicate_delivery",
    "delivered twice by the network",
    faults.duplicateDelivery,
    "duplicate_delivery",
  ),
  once(
    "late_commit",
    "commit after an absent read",
    () => faults.lateCommit({ afterMs: 400 }),
    "late_commit",
  ),
  {
    id: "key_window",
    name: "key forgotten before the retry",
    group: "network",
    wishes: ONE,
    tool: { keyMemoryMs: 300 },
    notFor: (toolClass) => (toolClass === "keyed" ? undefined : "the service takes no keys"),
    async play(stage, wishes) {
      await stage.plan(faults.hangUp({ commit: true }));
      const ask = stage.ask(first(wishes));
      const answer = await stage.call(ask);
      await stage.wait(400);
      if (answer?.said !== "done") await stage.call(ask);
    },
    wasMet: metFault("hang_up"),
  },
];
