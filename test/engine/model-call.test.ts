import { beforeEach, describe, expect, test } from "vitest";
import { beginModelCall } from "../../src/engine/reads-and-samples/model-call.ts";
import { createEvents, type Events, type HoldfireEvents } from "../../src/observe/events.ts";
import { engineOf, type TestEngine } from "./engine-of.ts";

type Begun = NonNullable<Parameters<typeof beginModelCall>[0]>;

const BEGUN = { client: "openai", step: "POST /responses" } as unknown as Begun;

let events: Events;
let engine: TestEngine;
let begun: HoldfireEvents["model_call"][];
let answered: HoldfireEvents["model_answer"][];

beforeEach(() => {
  events = createEvents();
  engine = engineOf({ events });
  begun = [];
  answered = [];
});

const listen = () => {
  events.on("model_call", (event) => begun.push(event));
  events.on("model_answer", (event) => answered.push(event));
};

describe("a model call that nobody listens to", () => {
  test("is run, and costs no more", async () => {
    const call = beginModelCall(BEGUN, engine);
    expect(call.isHeard).toBe(false);
    expect(await call.run(async () => "answer")).toBe("answer");
    call.sending();
    call.ended({ inputTokens: 3 });
    expect(call.isCounted()).toBe(false);
  });

  test("so is a request that asks no model", async () => {
    listen();
    const call = beginModelCall(undefined, engine);
    expect(call.isHeard).toBe(false);
    expect(await call.run(async () => "answer")).toBe("answer");
    call.ended();
    expect([begun, answered]).toEqual([[], []]);
  });

  test.each(["model_call", "model_answer", "usage"] as const)(
    "one listener to %s is enough",
    (name) => {
      events.on(name, () => {});
      expect(beginModelCall(BEGUN, engine).isHeard).toBe(true);
    },
  );
});

describe("a model call that is listened to", () => {
  beforeEach(listen);

  test("is told when it begins and when its answer has come, with what it took", async () => {
    const call = beginModelCall(BEGUN, engine);
    await call.run(async () => {
      call.sending();
      await engine.clock.advance(250);
      call.sending();
    });
    expect(begun).toMatchObject([{ ...BEGUN }]);
    expect(answered).toEqual([]);
    call.ended({ inputTokens: 3, responseModel: "m-1" });
    expect(answered).toMatchObject([
      {
        ...BEGUN,
        id: begun[0]?.id,
        attempts: 2,
        durationMs: 250,
        inputTokens: 3,
        responseModel: "m-1",
        replayed: false,
        partial: false,
      },
    ]);
  });

  test("only its first end counts", () => {
    const call = beginModelCall(BEGUN, engine);
    call.ended({ partial: true });
    call.ended({ partial: false });
    call.replayed();
    call.failed(new Error("late"));
    expect(answered).toMatchObject([{ partial: true, replayed: false, attempts: 0 }]);
    expect(answered[0]).not.toHaveProperty("error");
  });

  test("one that was replayed and one that failed are told as that", () => {
    beginModelCall(BEGUN, engine).replayed();
    const error = Object.assign(new Error("no"), { status: 429 });
    beginModelCall(BEGUN, engine).failed(error);
    expect(answered).toMatchObject([
      { replayed: true, partial: false },
      { replayed: false, status: 429, error },
    ]);
  });

  test("its tokens are counted once either kind is known", () => {
    for (const facts of [{ inputTokens: 0 }, { outputTokens: 2 }]) {
      const call = beginModelCall(BEGUN, engine);
      expect(call.isCounted()).toBe(false);
      call.ended(facts);
      expect(call.isCounted()).toBe(true);
    }
    const call = beginModelCall(BEGUN, engine);
    call.ended({ responseModel: "m-1" });
    expect(call.isCounted()).toBe(false);
  });
});

describe("a client that is owned on two levels", () => {
  beforeEach(listen);

  test("the upper one is the call, and what the lower one learns is told of it", async () => {
    const upper = beginModelCall(BEGUN, engine);
    await upper.run(async () => {
      const lower = beginModelCall(BEGUN, engine);
      expect(lower.isHeard).toBe(true);
      expect(await lower.run(async () => "answer")).toBe("answer");
      lower.sending();
      lower.ended({ inputTokens: 3, outputTokens: 5 });
      lower.ended();
      lower.failed(new Error("not told"));
    });
    expect([begun.length, answered.length]).toEqual([1, 0]);
    expect(upper.isCounted()).toBe(true);
    upper.ended({ outputTokens: 6 });
    expect(answered).toMatchObject([{ attempts: 1, inputTokens: 3, outputTokens: 6 }]);
  });

  test("what is asked after the upper one has ended is a call of its own", async () => {
    const upper = beginModelCall(BEGUN, engine);
    await upper.run(async () => {
      upper.ended();
      beginModelCall(BEGUN, engine).ended();
    });
    expect(answered).toHaveLength(2);
    expect(new Set(answered.map(({ id }) => id)).size).toBe(2);
  });
});
