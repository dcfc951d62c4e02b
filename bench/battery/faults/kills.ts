/**
 * Processes that are killed at one point of a call, or of the recovery after it.
 *
 * @module
 */

import { type Fault, faults } from "../../../src/testing/faulty-service.ts";
import {
  type FaultCase,
  first,
  metFault,
  notInMemory,
  ownProcess as own,
  type Stage,
} from "../fault.ts";
import type { Spot, WriteSpot } from "../tool-body.ts";

const LEASE_OVER_MS = 2_000;

/** Only holdfire's stores can be told to die in a write. */
const inLedgerOfHoldfire: NonNullable<FaultCase["notFor"]> = (toolClass, stack) =>
  stack.isHoldfire ? notInMemory(toolClass, stack) : "its writes to its ledger cannot be met";

/** One of the two writes of a call that goes well, before or after it is there. */
const someWrite = ({ random }: Stage): WriteSpot => ({
  write: random() < 0.5 ? 1 : 2,
  when: random() < 0.5 ? "on_its_way" : "written",
});

/** After the kill a new process starts, and the caller asks again: its run is resumed. */
async function resume(stage: Stage, wishes: Parameters<FaultCase["play"]>[1]): Promise<void> {
  await stage.restart();
  await stage.reconcile();
  await stage.call(stage.ask(first(wishes)));
}

const dies = (id: string, name: string, die: Spot): FaultCase => ({
  ...own,
  id,
  name,
  async play(stage, wishes) {
    await stage.call(stage.ask(first(wishes)), { die });
    await resume(stage, wishes);
  },
  wasMet: ({ kills }) => kills > 0,
});

/** Killed from outside, when the request has arrived. */
const killedWith = (
  id: string,
  name: string,
  fault: Fault,
  { afterMs = 0, isGone = false } = {},
): FaultCase => ({
  ...own,
  id,
  name,
  callerIsGone: isGone,
  async play(stage, wishes) {
    await stage.plan(fault);
    const call = stage.call(stage.ask(first(wishes)));
    await stage.arrived(1);
    await stage.wait(afterMs);
    await stage.main.kill();
    await call;
    if (isGone) await stage.restart();
    else await resume(stage, wishes);
  },
  wasMet: (met) => met.kills > 0 && metFault(fault.tag)(met),
});

export const kills: readonly FaultCase[] = [
  dies("kill_before_send", "killed before the send", "before_send"),
  killedWith(
    "kill_before_commit",
    "killed after the send, before the commit",
    faults.slow({ ms: 400, commit: "after" }),
  ),
  killedWith(
    "kill_after_commit",
    "killed after the commit, before the reply",
    faults.blackHole({ commit: true }),
  ),
  killedWith(
    "kill_mid_reply",
    "killed in the middle of the reply",
    faults.trickle({ everyMs: 20 }),
    {
      afterMs: 100,
    },
  ),
  dies("kill_after_reply", "killed after the reply", "after_reply"),
  {
    ...own,
    id: "kill_in_ledger_write",
    name: "killed inside a write to the ledger",
    notFor: inLedgerOfHoldfire,
    async play(stage, wishes) {
      await stage.call(stage.ask(first(wishes)), { die: someWrite(stage) });
      await resume(stage, wishes);
    },
    wasMet: ({ kills }) => kills > 0,
  },
  {
    ...own,
    id: "kill_in_recovery",
    name: "killed, and again in its recovery",
    notFor: inLedgerOfHoldfire,
    async play(stage, wishes) {
      await stage.plan(faults.blackHole({ commit: true }));
      const call = stage.call(stage.ask(first(wishes)));
      await stage.arrived(1);
      await stage.main.kill();
      await call;
      await stage.restart();
      // Until then the dead one is believed alive, and left alone.
      await stage.wait(LEASE_OVER_MS);
      await stage.reconcile(someWrite(stage));
      await resume(stage, wishes);
    },
    wasMet: ({ kills }) => kills > 1,
  },
  dies("kill_before_told", "killed before the caller is told", "before_told"),
  killedWith(
    "kill_and_gone",
    "killed, and the caller does not return",
    faults.blackHole({ commit: true }),
    { isGone: true },
  ),
];
