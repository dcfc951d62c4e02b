/**
 * What happens to processes: they are killed at one point of a call, frozen in it, or there are several of them.
 *
 * @module
 */

import { type Fault, faults } from "../../../src/testing/faulty-service.ts";
import { type FaultCase, first, metFault, ONE, type Stage } from "../fault.ts";
import type { Spot } from "../tool-body.ts";

/** A ledger in memory has nothing to say after a kill: what was still on its way may be sent once more. */
const notInMemory: NonNullable<FaultCase["notFor"]> = (_toolClass, { isInMemory }) =>
  isInMemory ? "its ledger is for one process, and ends with it" : undefined;

const own = {
  group: "process",
  wishes: ONE,
  needsOwnProcess: true,
  notFor: notInMemory,
} as const;

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

const many = (id: string, name: string, count: number): FaultCase => ({
  ...own,
  id,
  name,
  isFullOnly: count > 2,
  async play(stage, wishes) {
    await stage.plan(faults.hangUp({ commit: true }));
    const others = await Promise.all(Array.from({ length: count - 1 }, () => stage.another()));
    const ask = stage.ask(first(wishes));
    await Promise.all([stage.main, ...others].map((on) => stage.call(ask, { on })));
  },
  wasMet: metFault("hang_up"),
});

export const processes: readonly FaultCase[] = [
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
  dies("kill_before_told", "killed before the caller is told", "before_told"),
  killedWith(
    "kill_and_gone",
    "killed, and the caller does not return",
    faults.blackHole({ commit: true }),
    { isGone: true },
  ),
  {
    ...own,
    id: "frozen",
    name: "frozen in the call, and another asks",
    async play(stage, wishes) {
      await stage.plan(faults.hangUp({ commit: true }));
      const other = await stage.another();
      const ask = stage.ask(first(wishes));
      const call = stage.call(ask);
      await stage.arrived(1);
      stage.main.freeze();
      const second = stage.call(ask, { on: other });
      await stage.wait(3_000);
      stage.main.thaw();
      await Promise.all([call, second]);
    },
    wasMet: (met) => met.freezes > 0 && metFault("hang_up")(met),
  },
  many("two_processes", "two processes ask at once", 2),
  many("twelve_processes", "twelve processes ask at once", 12),
];
