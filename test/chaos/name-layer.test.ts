/** The layers that real programs show are in `agents.test.ts`; here are the facts that decide. */
import { expect, test } from "vitest";
import { nameLayer, packageOf } from "../../src/chaos/judge/name-layer.ts";
import type { RunSend } from "../../src/chaos/judge/run-log.ts";
import type { Frame } from "../../src/chaos/log.ts";
import { framesIn } from "../../src/chaos/watch/stack.ts";

const frame = (file: string, isAsync = false): Frame => ({
  function: "f",
  file,
  line: 1,
  column: 1,
  isAsync,
});
const OWN = "/app/agent.ts";
const inPackage = (name: string) => `/app/node_modules/${name}/index.js`;

let at = 0;
function send(more: Partial<RunSend>): RunSend {
  at += 1;
  const place = { method: "POST", origin: "https://api.bank.example", path: "/payouts" };
  const whole = { tag: "send", n: at, at, process: 0, isBroken: false, same: "x" } as const;
  return { ...whole, kind: "write", ...place, stack: [frame(OWN)], causes: [], ...more };
}

/** Sent again by what was arranged at this place, after the two had everything before it in common. */
const pairBy = (file: string, more: Partial<RunSend> = {}) =>
  [
    send({ causes: [{ id: 3 }, { id: 2 }, { id: 1 }], ...more }),
    send({ causes: [{ id: 9 }, { id: 8, by: frame(file) }, { id: 2 }, { id: 1 }], ...more }),
  ] as const;

const named = ([first, again]: readonly [RunSend, RunSend], ...between: readonly RunSend[]) =>
  nameLayer(
    first,
    again,
    [first, ...between, again].sort((a, b) => a.at - b.at),
  );

test("who went on after the first send has sent again", () => {
  expect(named(pairBy(OWN))).toMatchObject({ name: "loop", at: { file: OWN } });
  expect(named(pairBy(inPackage("p-retry")))).toMatchObject({ name: "loop", by: "p-retry" });
  expect(named(pairBy(inPackage("@langchain/langgraph")))).toMatchObject({ name: "framework" });
  expect(named(pairBy(inPackage("openai")))).toMatchObject({
    name: "sdk",
    by: "openai",
    subpath: "holdfire/openai",
  });
});

test("a client that sends no POST again has not done it by itself", () => {
  const stack = [frame(inPackage("got")), frame(inPackage("my-retry"))];
  const [first, again] = pairBy(inPackage("got"), { stack: [frame(OWN)] });
  const grown = { ...again, stack };
  expect(named([first, { ...grown, method: "PUT" }])).toMatchObject({ by: "got" });
  // Nothing else is known of either, so the one that went on is named.
  expect(named([first, grown])).toMatchObject({ by: "got" });
  const withRetry = { ...again, stack: [frame(inPackage("axios-retry"))] };
  expect(named([first, withRetry])).toMatchObject({ by: "axios-retry" });
});

test("a model that was asked in between, in a conversation that has grown, has asked again", () => {
  const asked = send({ kind: "model", messages: 1 });
  const first = send({});
  const told = send({ kind: "model", messages: 3 });
  const again = send({ stack: [frame(OWN), frame(inPackage("ai"))] });
  expect(nameLayer(first, again, [asked, first, told, again])).toMatchObject({
    name: "model",
    at: { file: OWN },
  });
  const fromStart = { ...told, messages: 1 };
  expect(nameLayer(first, again, [asked, first, fromStart, again]).name).not.toBe("model");
  const continued = { ...fromStart, continues: true };
  expect(nameLayer(first, again, [asked, first, continued, again]).name).toBe("model");
});

test("a model that was asked from the beginning: the loop is around the run", () => {
  const asked = send({ kind: "model", messages: 1, causes: [{ id: 2 }, { id: 1 }] });
  const first = send({});
  const by = frame(inPackage("p-retry"));
  const anew = send({ kind: "model", messages: 1, causes: [{ id: 7, by }, { id: 1 }] });
  const again = send({});
  expect(nameLayer(first, again, [asked, first, anew, again])).toMatchObject({
    name: "loop",
    by: "p-retry",
    isWholeRun: true,
  });
  const elsewhere = { ...again, process: 1 };
  expect(nameLayer(first, elsewhere, [asked, first, anew, elsewhere]).name).toBe("restart");
});

test("a new process is one", () => {
  const [first, again] = pairBy(OWN);
  expect(named([first, { ...again, process: 1 }]).name).toBe("restart");
});

test("what is not known is said", () => {
  const unrelated = [send({ causes: [{ id: 3 }] }), send({ causes: [{ id: 9 }] })] as const;
  expect(named(unrelated)).toMatchObject({ name: "cannot_tell", at: { file: OWN } });
  const atOnce = [send({ causes: [{ id: 3 }] }), send({ causes: [{ id: 3 }] })] as const;
  expect(named(atOnce).name).toBe("cannot_tell");
});

test("packages are known by their folder", () => {
  expect(packageOf({ file: OWN })).toBeUndefined();
  expect(packageOf({ file: inPackage("@scope/name") })).toBe("@scope/name");
  expect(packageOf({ file: "C:\\app\\node_modules\\a\\node_modules\\b\\x.js" })).toBe("b");
  expect(packageOf({ file: "/app/node_modules/.pnpm/a@1/node_modules/a/x.js" })).toBe("a");
});

test("frames are read from stacks, with those who wait and without Node's own", () => {
  const stack = [
    "Error",
    "    at pay (file:///app/my%20agent.ts:3:7)",
    "    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)",
    "    at async Object.run [as x] (/app/tool.js:10:20)",
    "    at async /app/top.js:1:2",
    "    at new Promise (<anonymous>)",
  ].join("\n");
  expect(framesIn(stack)).toEqual([
    { function: "pay", file: "/app/my agent.ts", line: 3, column: 7, isAsync: false },
    { function: "Object.run [as x]", file: "/app/tool.js", line: 10, column: 20, isAsync: true },
    { function: "", file: "/app/top.js", line: 1, column: 2, isAsync: true },
  ]);
});
