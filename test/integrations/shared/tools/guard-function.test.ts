import { describe, expect, it } from "vitest";
import { createHoldfire } from "../../../../src/create.ts";
import type { AttemptContext } from "../../../../src/engine/define/definition.ts";
import {
  attemptOf,
  describe as describeTool,
  guardFunction,
  withAttempt,
} from "../../../../src/integrations/shared/tools/guard-function.ts";
import type { ToolRules } from "../../../../src/integrations/shared/tools/rules.ts";
import { memoryStore } from "../../../../src/stores/memory.ts";
import { virtualClock } from "../../../engine/virtual-clock.ts";
import { openHoldfire } from "../scripted.ts";

interface Given {
  readonly user: string;
}

type Execute = (args: unknown, context: ReturnType<typeof withAttempt>) => unknown;

const guarded = (
  hf = openHoldfire(),
  execute: Execute = () => "paid",
  rules: Partial<ToolRules> = {},
) =>
  guardFunction<Given>(hf, {
    name: "pay",
    rules: { kind: "write", ...rules },
    line: "Pass { thread }",
    execute: (args, attempt, given) => execute(args, withAttempt(given, attempt, "abortSignal")),
  });

const call = { scope: "s", context: { user: "ana" } };

describe("what the framework's function gets", () => {
  it("its own context, with the attempt's signal in place of the framework's", async () => {
    const seen: Record<PropertyKey, unknown>[] = [];
    const pay = guarded(undefined, (_, context) => seen.push(context));
    const signal = new AbortController().signal;
    await pay(
      { amount: 1 },
      { ...call, signal, context: { user: "ana", abortSignal: signal } as Given },
    );
    expect(seen[0]).toMatchObject({ user: "ana", attempt: 1 });
    expect(seen[0]?.abortSignal).toBeInstanceOf(AbortSignal);
    expect(seen[0]?.abortSignal).not.toBe(signal);
  });

  it("that of the call which fires, also when calls cross", async () => {
    const seen: unknown[] = [];
    const pay = guarded(undefined, async (args, { user }) => {
      await new Promise(setImmediate);
      seen.push([args, user]);
    });
    await Promise.all(
      ["ana", "ben"].map((user) => pay({ of: user }, { ...call, context: { user } })),
    );
    expect(seen).toEqual([
      [{ of: "ana" }, "ana"],
      [{ of: "ben" }, "ben"],
    ]);
  });

  it("a key that counts as taken only when it is taken", async () => {
    const failing = async (take: (context: ReturnType<typeof withAttempt>) => unknown) => {
      let fired = 0;
      const hf = openHoldfire();
      const keyed = { keyed: { forMs: 60_000 } };
      const pay = guarded(
        hf,
        (_, context) => {
          take(context);
          fired += 1;
          throw Object.assign(new Error("unavailable"), { status: 503 });
        },
        keyed,
      );
      await pay({}, call);
      const { items } = await hf.operations.list();
      return { fired, why: items[0]?.reason };
    };
    expect(await failing(({ key }) => key)).toEqual({ fired: 3, why: "attempts" });
    expect(await failing((context) => attemptOf(context).key)).toEqual({
      fired: 3,
      why: "attempts",
    });
    expect(await failing(() => attemptOf().key)).toEqual({ fired: 3, why: "attempts" });
    expect(await failing((context) => ({ ...context }))).toEqual({
      fired: 1,
      why: "unclear_answer",
    });
  });

  it("what else is called inside belongs to the operation", async () => {
    const hf = openHoldfire();
    let mailed = 0;
    const mail = guardFunction<unknown>(hf, {
      name: "mail",
      rules: { kind: "write" },
      line: "",
      execute: () => ++mailed,
    });
    const pay = guarded(hf, async () => {
      await mail({ to: "ana" }, { thread: "other", messages: "other words", context: undefined });
      return attemptOf().key;
    });
    const { data } = await pay({}, call);
    const { items } = await hf.operations.list();
    expect(items.map(({ tool }) => tool).sort()).toEqual(["mail", "pay"]);
    expect(items.find(({ tool }) => tool === "mail")?.scope).toContain("operation");
    expect(data).toBe(items.find(({ tool }) => tool === "pay")?.key);
  });

  it("no context when nobody calls: a tool of the same name elsewhere does not lend its own", async () => {
    const hf = openHoldfire();
    const seen: unknown[] = [];
    const inner = guardFunction<Given>(hf, {
      name: "pay",
      rules: { kind: "write" },
      line: "",
      execute: (_, __, given) => seen.push(given),
    });
    const outer = guarded(hf, () => inner({ a: 1 }, { context: { user: "ben" } }));
    await outer({}, call);
    expect(seen).toEqual([{ user: "ben" }]);
  });

  it("no context when it is sent again by a reconcile, even one that another's call has started", async () => {
    const hf = openHoldfire();
    const sent: unknown[] = [];
    let isLost = true;
    const pay = guarded(
      hf,
      (args, { key, user }) => {
        sent.push([args, user, typeof key]);
        if (isLost) throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
      },
      { keyed: { forMs: 86_400_000 }, attempts: 1 },
    );
    await pay({ of: "ana" }, { scope: "a", context: { user: "ana" } });
    isLost = false;
    let swept: Promise<unknown> | undefined;
    hf.on("outcome", ({ status }) => {
      if (status === "committed") swept ??= hf.reconcile({ resend: true });
    });
    await pay({ of: "ben" }, { scope: "b", context: { user: "ben" } });
    await swept;
    expect(sent).toEqual([
      [{ of: "ana" }, "ana", "string"],
      [{ of: "ben" }, "ben", "string"],
      [{ of: "ana" }, undefined, "string"],
    ]);
  });

  it("that of the caller who took off, when several wait for one effect", async () => {
    const seen: unknown[] = [];
    const pay = guarded(undefined, async (_, { user }) => {
      await new Promise(setImmediate);
      seen.push(user);
    });
    await Promise.all(["ana", "ben"].map((user) => pay({}, { ...call, context: { user } })));
    expect(seen).toEqual(["ana"]);
  });

  it("that of the second caller, when the first has left before anything was sent", async () => {
    const seen: unknown[] = [];
    const looks: ((version: string) => void)[] = [];
    const pay = guarded(undefined, (_, { user }) => seen.push(user), {
      precondition: () => new Promise((resolve) => looks.push(resolve)),
    });
    const stop = new AbortController();
    const first = pay({}, { ...call, signal: stop.signal, context: { user: "ana" } });
    await expect.poll(() => looks.length).toBe(1);
    stop.abort();
    const second = pay({}, { ...call, context: { user: "ben" } });
    looks[0]?.("v1");
    expect(await first).toMatchObject({ ok: false });
    await expect.poll(() => looks.length).toBe(2);
    looks[1]?.("v1");
    expect(await second).toMatchObject({ ok: true });
    expect(seen).toEqual(["ben"]);
  });
});

describe("a call", () => {
  it("without rules is a plain write: held back when unsure, never taken for a read", async () => {
    let fired = 0;
    const pay = guarded(undefined, () => {
      fired += 1;
      throw new TypeError("fetch failed");
    });
    expect(await pay({}, call)).toMatchObject({ outcome: "unknown" });
    expect(await pay({}, call)).toMatchObject({ outcome: "unknown" });
    expect(fired).toBe(1);
    await expect(pay({}, { context: call.context })).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_MISSING_SCOPE",
    });
  });

  it("ends after 45 s, before those who call give up at 60, unless the rules say otherwise", async () => {
    for (const [rules, ms] of [
      [{}, 45_000],
      [{ deadlineMs: 5_000 }, 5_000],
    ] as const) {
      const clock = virtualClock();
      const store = memoryStore({ now: clock.now, forgets: "accepted" });
      const hf = createHoldfire({ store, surroundings: { clock } });
      const pay = guarded(hf, () => new Promise(() => {}), {
        ...rules,
        attemptTimeoutMs: 3_600_000,
      });
      const started = clock.monotonic();
      expect(await clock.run(pay({}, call))).toMatchObject({
        outcome: "in_progress",
        message: expect.stringContaining("It is still running"),
      });
      expect(clock.monotonic() - started).toBe(ms);
    }
  });

  it("keeps the ids of the tool call; one that the ledger would not take is no obstacle", async () => {
    const hf = openHoldfire();
    const pay = guarded(hf);
    await pay({ a: 1 }, { ...call, toolCallId: ["call_1", "call_2", "x".repeat(300), ""] });
    const { items } = await hf.operations.list();
    expect(items[0]?.aliases).toEqual(["call_1", "call_2"]);
  });

  it("with arguments that JSON cannot carry is refused before anything is sent", async () => {
    let fired = 0;
    const pay = guarded(undefined, () => ++fired);
    await expect(pay({ when: new Date() }, call)).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_INVALID_INPUT",
    });
    expect(fired).toBe(0);
  });

  it("of a read lends its turn to the writes inside it", async () => {
    const hf = openHoldfire();
    const pay = guarded(hf);
    const look = guardFunction<unknown>(hf, {
      name: "look",
      rules: { kind: "read" },
      line: "",
      execute: () => pay({}, { context: { user: "ana" } }),
    });
    const turn = { thread: "t", messages: "Pay p1", run: "run-1", context: undefined };
    expect(await look({}, turn)).toMatchObject({ ok: true, data: { ok: true, replayed: false } });
    expect(await look({}, turn)).toMatchObject({ ok: true, data: { ok: true, replayed: true } });
    await expect(look({}, { context: undefined })).resolves.toMatchObject({ ok: false });
  });
});

it("a description ends in what else the tool does", () => {
  expect(describeTool("Pays.", ["e-mails the payee", "costs a cent"])).toBe(
    "Pays.\nIt also e-mails the payee; costs a cent.",
  );
  expect(describeTool(undefined, ["e-mails the payee"])).toBe("It also e-mails the payee.");
  expect(describeTool("Pays.")).toBe("Pays.");
  expect(describeTool(undefined)).toBeUndefined();
});

it("a context keeps its prototype and its getters", () => {
  const attempt = { key: "k", attempt: 1, signal: AbortSignal.abort() } as AttemptContext;
  class Context {
    readonly id = 7;
    double() {
      return this.id * 2;
    }
  }
  const copy = withAttempt(new Context(), attempt, "signal") as unknown as Context;
  expect(copy.double()).toBe(14);
  expect(Object.keys(copy)).toEqual(["id", "signal"]);
});
