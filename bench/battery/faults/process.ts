/**
 * Processes that stand still in a call, and several that are asked for the same thing.
 *
 * @module
 */

import { faults } from "../../../src/testing/faulty-service.ts";
import { type FaultCase, first, metFault, ownProcess as own } from "../fault.ts";

/** How long a queue waits for a worker before it gives the job to another one. */
const VISIBILITY_MS = 800;

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
  {
    ...own,
    id: "host_asleep",
    name: "host asleep while two processes call",
    async play(stage, wishes) {
      await stage.plan(faults.slow({ ms: 300, commit: "after" }));
      const other = await stage.another();
      const ask = stage.ask(first(wishes));
      const calls = [stage.call(ask), stage.call(ask, { on: other })];
      await stage.arrived(1);
      for (const process of [stage.main, other]) process.freeze();
      await stage.wait(3_500);
      for (const process of [other, stage.main]) process.thaw();
      await Promise.all(calls);
    },
    wasMet: (met) => met.freezes > 1 && metFault("slow")(met),
  },
  {
    ...own,
    id: "queue_twice",
    name: "a queue delivers the job to two workers",
    async play(stage, wishes) {
      await stage.plan(faults.slow({ ms: 2_400, commit: "after" }));
      const other = await stage.another();
      const ask = stage.ask(first(wishes));
      const one = stage.call(ask);
      await stage.arrived(1);
      // The first worker has not said that it is done: for the queue it is gone.
      await stage.wait(VISIBILITY_MS);
      await Promise.all([one, stage.call(ask, { on: other })]);
      // What it said at last was lost: the job comes once more.
      await stage.call(ask, { on: other });
    },
    wasMet: (met) => metFault("slow")(met) && met.evidence.told.length > 1,
  },
  many("two_processes", "two processes ask at once", 2),
  many("twelve_processes", "twelve processes ask at once", 12),
];
