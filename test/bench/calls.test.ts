/** From measured cases to series: a function that ran twice is a fault, one that is not remembered is told as such. */
import { expect, test } from "vitest";
import type { CaseResult } from "../../bench/call/measure-cases.ts";
import { figuresOf } from "../../bench/suite/calls.ts";

const round = { perSecond: 10, p50Us: 1, p99Us: 2, loopP99Ms: 1, loopMaxMs: 1, calls: 5, cpuUs: 1 };
const caseOf = (name: string, rest: Partial<CaseResult> = {}): CaseResult => ({
  name,
  group: "memory",
  callers: 1,
  first: [round],
  again: [round],
  allocatedKb: [1],
  ran: [{ asked: 5, twice: 0, never: 0, wrongReceipts: 0 }],
  ranAgain: 0,
  ...rest,
});
const faultsOf = (...results: readonly CaseResult[]) =>
  figuresOf(results, [])
    .series.filter(({ fault }) => fault !== undefined)
    .map(({ group, name, fault }) => `${group}, ${name}: ${fault}`);

test("a case whose function ran once for each call has no fault", () => {
  expect(faultsOf(caseOf("holdfire"))).toEqual([]);
});

test("a function that ran twice for a new call is a fault of the call", () => {
  const ran = [{ asked: 5, twice: 2, never: 0, wrongReceipts: 0 }];
  expect(faultsOf(caseOf("peer", { ran }))).toEqual(["memory, peer: 2 ran TWICE of 5"]);
});

test("a function that ran again for some calls is a fault of the replay", () => {
  expect(faultsOf(caseOf("peer", { ranAgain: 1 }))).toEqual(["replay, peer: 1 ran TWICE"]);
});

test("what ran again for all calls remembers nothing, and has no replay", () => {
  const { series, notRun } = figuresOf([caseOf("p-retry", { ranAgain: 5 })], []);
  expect(series.filter(({ group }) => group === "replay")).toEqual([]);
  expect(notRun).toEqual([
    { group: "replay", name: "p-retry", why: "remembers nothing, so it runs again" },
  ]);
});
