import { expect, test } from "vitest";
import { compareRuns } from "../../src/chaos/judge/compare-runs.ts";
import { runLogOf } from "../../src/chaos/judge/run-log.ts";
import type { Send } from "../../src/chaos/log.ts";

type Given = Partial<Send> & { readonly isBroken?: boolean };

/** A run of one process that has sent these, in order. */
const run = (...sends: readonly Given[]) =>
  runLogOf([
    sends
      .flatMap(({ isBroken, ...given }, index) => {
        const n = index + 1;
        const place = { method: "POST", origin: "https://api.bank.example", path: "/payouts" };
        const send = { tag: "send", n, at: n, kind: "write", ...place, same: "a" };
        const whole = { ...send, stack: [], causes: [], ...given };
        return isBroken ? [whole, { tag: "broken", n, fault: "reset", at: n }] : [whole];
      })
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(""),
  ]);

const BROKEN = { isBroken: true };

test("what goes out more often than without faults was sent again", () => {
  expect(compareRuns(run({}), run(BROKEN))).toEqual([]);
  expect(compareRuns(run({}), run(BROKEN, {}))).toMatchObject([
    { write: "POST https://api.bank.example/payouts", sent: 2, withoutFaults: 1, isSameBody: true },
  ]);
  expect(compareRuns(run({}, {}), run(BROKEN, {}))).toEqual([]);
  expect(compareRuns(run({}, {}), run(BROKEN, {}, {}))).toMatchObject([{ sent: 3 }]);
});

test("a repeat is one also where the agent ends before it has sent the rest", () => {
  const two = run({ same: "a", key: "1" }, { same: "b", key: "2" });
  expect(compareRuns(two, run({ ...BROKEN, key: "1" }, { same: "b", key: "2" }))).toEqual([]);
  const again = (key: string | undefined) =>
    compareRuns(two, run({ ...BROKEN, key: "1" }, key === undefined ? {} : { key }));
  expect(again(undefined)).toMatchObject([{ sent: 2, withoutFaults: 1, isKeyed: false }]);
  expect(again("3")).toMatchObject([{ isSameBody: true, isKeyed: false }]);
  expect(again("1")).toMatchObject([{ isSameBody: true, isKeyed: true }]);
});

test("a service on this machine may have another port", () => {
  const at = (port: number) => ({ origin: `http://127.0.0.1:${port}` });
  expect(compareRuns(run(at(1), at(1)), run({ ...at(2), ...BROKEN }, at(2)))).toEqual([]);
});

test("the broken write counts in other words, too; what else is sent only if it is the same", () => {
  const slack = { path: "/messages" };
  expect(compareRuns(run({}), run(BROKEN, { same: "b" }))).toMatchObject([{ isSameBody: false }]);
  const said = [
    { ...slack, same: "sorry" },
    { ...slack, same: "done" },
  ];
  expect(compareRuns(run({}, { ...slack, same: "done" }), run(BROKEN, ...said))).toEqual([]);
  expect(compareRuns(run({}), run(BROKEN, ...said))).toEqual([]);
  const twice = [
    { ...slack, same: "done" },
    { ...slack, same: "done" },
  ];
  expect(compareRuns(run({}, { ...slack, same: "done" }), run(BROKEN, ...twice))).toMatchObject([
    { write: "POST https://api.bank.example/messages", sent: 2 },
  ]);
});

test("a repeat under its key is marked", () => {
  const keyed = { key: "k" };
  const found = (...sends: readonly Given[]) => compareRuns(run(keyed), run(...sends))[0]?.isKeyed;
  expect(found({ ...keyed, ...BROKEN }, keyed)).toBe(true);
  expect(found({ ...keyed, ...BROKEN }, { key: "another" })).toBe(false);
  expect(found({ ...keyed, ...BROKEN }, {})).toBe(false);
});

test("what goes to a gateway, to a model or nowhere in particular is no write", () => {
  for (const other of [{ isRelay: true }, { kind: "model" }, { kind: "other" }] as const) {
    expect(compareRuns(run({}), run(BROKEN, other))).toEqual([]);
  }
});

test("a last line that broke off is left out", () => {
  expect(runLogOf(['{"tag":"failed","why":"x"}\n{"tag":"se']).failures).toEqual(["x"]);
});
