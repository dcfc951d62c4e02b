import { beforeEach, describe, expect, test } from "vitest";
import type { Engine } from "../../src/engine/engine.ts";
import {
  keepSample,
  recallSample,
  SAMPLE_BYTES,
  type SampleStep,
  sampleFacts,
} from "../../src/engine/reads-and-samples/sample-record.ts";
import { resolveScope } from "../../src/key/scope.ts";
import type { KeptResponse } from "../../src/ledger/codec/codec.ts";
import { createEvents } from "../../src/observe/events.ts";
import { engineOf, type TestEngine } from "./engine-of.ts";

let engine: TestEngine;
let drifts: number;
let told: string[];

beforeEach(() => {
  drifts = 0;
  told = [];
  const events = createEvents();
  events.on("store", ({ status }) => told.push(status));
  events.on("warning", (warning) => told.push(warning.code));
  engine = engineOf({ events });
});

function stepOf(rest: Partial<SampleStep> = {}): SampleStep {
  const scope = resolveScope("job");
  if (!scope) throw new Error("There is no scope.");
  const onDrift = () => {
    drifts += 1;
  };
  return { client: "openai", scope, step: "1", hash: "h1", parent: undefined, onDrift, ...rest };
}

const answer = (body: string): KeptResponse => ({
  status: 200,
  contentType: "application/json",
  body,
  encoding: "utf8",
});

const keep = async (step: SampleStep, body: string, by: Engine = engine): Promise<string> =>
  (await engine.clock.run(keepSample(step, answer(body), by))).body;
const recall = async (step: SampleStep): Promise<string | undefined> =>
  (await recallSample(step, engine))?.body;

describe("the first answer of a step is canonical", () => {
  test("it is kept, and a rerun gets it back whole", async () => {
    expect(await recallSample(stepOf(), engine)).toBeUndefined();
    expect(await keep(stepOf(), "one")).toBe("one");
    expect(await recallSample(stepOf(), engine)).toEqual(answer("one"));
    expect([drifts, told]).toEqual([0, []]);
  });

  test("a second answer to the same question gives way to it, and is no second effect", async () => {
    await engine.ledger.open();
    expect(await keep(stepOf(), "one")).toBe("one");
    expect(await keep(stepOf(), "two")).toBe("one");
    expect(await recall(stepOf())).toBe("one");
    const { items } = await engine.ledger.store.list({ tenant: "acme" });
    expect(items.map(({ record }) => [record.state.tag, record.fired])).toEqual([["committed", 1]]);
  });

  test("of two that are there at once, both callers get the same", async () => {
    await engine.ledger.open();
    const both = [keepSample(stepOf(), answer("one"), engine)];
    both.push(keepSample(stepOf(), answer("two"), engine));
    const [first, second] = await engine.clock.run(Promise.all(both));
    expect(first).toEqual(second);
    expect(await recall(stepOf())).toBe(first?.body);
  });

  test.each([
    ["another step", { step: "2" }],
    ["another client", { client: "anthropic" }],
  ])("%s has an answer of its own", async (_, other) => {
    await engine.ledger.open();
    await keep(stepOf(), "one");
    expect(await recall(stepOf(other))).toBeUndefined();
    expect(await keep(stepOf(other), "two")).toBe("two");
    expect(await recall(stepOf())).toBe("one");
    expect(sampleFacts(stepOf(other), engine).id).not.toBe(sampleFacts(stepOf(), engine).id);
  });
});

describe("another prompt in the same step", () => {
  const other = () => stepOf({ hash: "h2" });

  test("is told as drift, and its answer is kept beside the first", async () => {
    await engine.ledger.open();
    await keep(stepOf(), "one");
    expect(await recall(other())).toBeUndefined();
    expect(drifts).toBe(1);
    expect(await keep(other(), "two")).toBe("two");
    expect(drifts).toBe(2);
    expect([await recall(stepOf()), await recall(other())]).toEqual(["one", "two"]);
    expect(await keep(other(), "three")).toBe("two");
  });
});

describe("a claim that another caller has left", () => {
  /** Another process: it claims, and its settle does not get through before it is gone. */
  async function claimAndVanish(): Promise<void> {
    const { failing, clock } = engine;
    await engine.ledger.open();
    failing.fail("rejects", (step) => step === "swap:committed");
    await clock.run(
      keepSample(stepOf(), answer("lost"), { ...engine, persist: async () => "closed" }),
    );
    failing.recover();
    told.length = 0;
  }

  test("is waited for until its lease is over, and no longer", async () => {
    await claimAndVanish();
    const before = engine.clock.monotonic();
    expect(await keep(stepOf(), "two")).toBe("two");
    expect(engine.clock.monotonic() - before).toBeGreaterThanOrEqual(1_900);
    expect(engine.clock.monotonic() - before).toBeLessThan(engine.timing.storeTimeoutMs);
    expect(await recall(stepOf())).toBe("two");
    expect(told).toEqual([]);
  });

  test("holds no answer: nothing is recalled of it", async () => {
    await claimAndVanish();
    expect(await recall(stepOf())).toBeUndefined();
  });
});

describe("an answer that cannot be kept is the caller's all the same", () => {
  test("too large: it is told, and nothing is written", async () => {
    await engine.ledger.open();
    const large = "x".repeat(SAMPLE_BYTES + 1);
    expect(await keep(stepOf(), large)).toBe(large);
    expect(told).toEqual(["payload_lost"]);
    expect(await recall(stepOf())).toBeUndefined();
  });

  test("the store is down: it is told, and written once the store answers", async () => {
    await engine.ledger.open();
    engine.failing.fail("rejects");
    expect(await keep(stepOf(), "one")).toBe("one");
    expect(told).toEqual(["unrecorded"]);
    engine.failing.recover();
    await engine.clock.advance(60_000);
    expect(told).toEqual(["unrecorded", "recorded"]);
    expect(await recall(stepOf())).toBe("one");
  });

  test("closed meanwhile: it is not told as recorded", async () => {
    await engine.ledger.open();
    engine.failing.fail("rejects");
    await keep(stepOf(), "one", { ...engine, persist: async () => "closed" });
    await engine.clock.advance(60_000);
    expect(told).toEqual(["unrecorded"]);
  });

  test("a store that does not answer a question asked before the send is an error", async () => {
    engine.failing.fail("rejects", (step) => step === "read");
    await expect(engine.clock.run(recallSample(stepOf(), engine))).rejects.toThrow("read");
  });
});
