/**
 * A reply is lost, and the way to find out is broken too. A stack that reads nothing meets the lost reply alone.
 *
 * @module
 */

import { faults, type ReadFault, readFaults } from "../../../src/testing/faulty-service.ts";
import { type FaultCase, first, metFault, ONE } from "../fault.ts";
import type { Tool } from "../stack.ts";

const broken = (
  id: string,
  name: string,
  fault: ReadFault,
  tool: Partial<Tool> = {},
): FaultCase => ({
  id,
  name,
  group: "reader",
  wishes: ONE,
  tool,
  notFor: (toolClass) =>
    toolClass === "keyed" || toolClass === "neither" ? "the tool reads nothing" : undefined,
  async play(stage, wishes) {
    await stage.plan(faults.hangUp({ commit: true }));
    await stage.alwaysRead(fault);
    await stage.call(stage.ask(first(wishes)));
  },
  // A store that forgets reads before it sends: there the broken reader is met first.
  wasMet: (met) => (met.stack.reads ? met.readFaults > 0 : metFault("hang_up")(met)),
});

export const reader: readonly FaultCase[] = [
  broken("reader_down", "reader down", readFaults.status()),
  broken("reader_hangs", "reader hangs", readFaults.hang()),
  broken("reader_lags", "reader lags", readFaults.lag({ ms: 400 })),
  broken("reader_wrong", "reader takes a 503 for an empty list", readFaults.status(), {
    mistake: "reads_503_as_empty",
  }),
];
