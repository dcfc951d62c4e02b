import { describe, expect, test } from "vitest";
import { effectOf } from "../../src/engine/define/effect.ts";
import { commonOf } from "../../src/engine/outcome/build.ts";
import { outcomeForCaller, payloadOf } from "../../src/engine/outcome/result.ts";
import { engineOf, operationOf } from "./engine-of.ts";

const engine = engineOf();
const operation = operationOf(engine);
const lost: string[] = [];
engine.events.on("warning", (event) => {
  if (event.code === "payload_lost") lost.push(event.why);
});

describe("what is kept of a result", () => {
  test("is its JSON", () => {
    expect(payloadOf(operation, { value: { id: 1 } }, engine)).toEqual({
      form: "json",
      text: '{"id":1}',
    });
    expect(payloadOf(operation, { value: undefined }, engine)).toMatchObject({
      form: "undefined",
    });
  });

  test("of a Response is what could be read of it", () => {
    const kept = { status: 200, contentType: undefined, body: "x", encoding: "utf8" } as const;
    expect(payloadOf(operation, { value: new Response("x"), kept }, engine)).toMatchObject({
      form: "response",
    });
  });

  test("is nothing, and told, where JSON cannot carry it or the body broke off", () => {
    lost.length = 0;
    expect(payloadOf(operation, { value: { secret: 4111n } }, engine)).toBeUndefined();
    expect(payloadOf(operation, { value: new Response("x") }, engine)).toBeUndefined();
    expect(lost).toHaveLength(2);
    expect(lost.join()).not.toContain("4111");
  });
});

test("a body that another one reads is gone for a caller, who is told so", () => {
  const result = new Response("made");
  result.body?.getReader();
  const outcome = {
    ...commonOf(operation, undefined, engine),
    status: "committed",
    result,
  } as const;
  expect(outcomeForCaller(outcome, false)).toMatchObject({ status: "committed", resultLost: true });
});

describe("what a result says of the world", () => {
  const world = (rest: object, result: unknown = {}) => effectOf({ effect: rest }, result);

  test("is asked of the tool", () => {
    const tool = { type: () => "created", id: ({ id }: { id: string }) => id };
    expect(world(tool, { id: "ef_1" })).toEqual({ effect: "created", effectId: "ef_1" });
  });

  test("is nothing where the tool says nothing, throws, or talks nonsense", () => {
    const nothing = { effect: undefined, effectId: undefined };
    const boom = () => {
      throw new Error("boom");
    };
    expect(world({})).toEqual(nothing);
    expect(world({ type: boom, id: boom })).toEqual(nothing);
    expect(world({ type: () => "exploded", id: () => 7 })).toEqual(nothing);
    expect(world({ id: () => "x".repeat(513) })).toEqual(nothing);
  });
});
