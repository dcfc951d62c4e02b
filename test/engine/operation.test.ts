import { describe, expect, test } from "vitest";
import { about, factsOf } from "../../src/engine/operation/operation.ts";
import { MissingScopeError, VolatileIntentError } from "../../src/errors.ts";
import { rewordedFields } from "../../src/key/mint.ts";
import { enterScope } from "../../src/key/scope.ts";
import { engineOf, operationOf } from "./engine-of.ts";

const engine = engineOf();
const idOf = (...args: Parameters<typeof operationOf> extends [unknown, ...infer R] ? R : never) =>
  operationOf(engine, ...args).ref.id;

describe("the name of a call", () => {
  test("follows from tenant, scope, tool, again and intent, and from nothing else", () => {
    const base = idOf();
    expect(idOf({ attempts: 1 })).toBe(base);
    expect(idOf({}, { item: "tea" }, { scope: "s", retry: "why", aliases: ["a-1"] })).toBe(base);
    expect(idOf({}, { item: "milk" })).not.toBe(base);
    expect(idOf({ name: "other" })).not.toBe(base);
    expect(idOf({}, { item: "tea" }, { scope: "t" })).not.toBe(base);
    expect(idOf({}, { item: "tea" }, { scope: "s", again: "2" })).not.toBe(base);
    expect(operationOf({ ...engine, tenant: "other" }).ref.id).not.toBe(base);
  });

  test("does not depend on the order of fields or on how a number was written", () => {
    expect(idOf({}, { a: 1, b: 2 })).toBe(idOf({}, { b: 2.0, a: 1 }));
  });

  test("of an intent leaves out what is not in it, and remembers it apart", () => {
    const intent = ({ item }: { item: string }) => ({ item });
    const one = operationOf(engine, { intent }, { item: "tea", note: "a" });
    const two = operationOf(engine, { intent }, { item: "tea", note: "b" });
    expect(two.ref.id).toBe(one.ref.id);
    expect(two.draft.argsHash).not.toBe(one.draft.argsHash);
    expect(rewordedFields(one.draft.fields, two.draft.fields)).toEqual(["note"]);
    expect(two.args).toEqual({ item: "tea", note: "b" });
    expect(two.intent).toEqual({ item: "tea" });
  });

  test("by `normalize` forgives white space, by list or by function", () => {
    const list = { normalize: ["item"] };
    expect(idOf(list, { item: " green  tea " })).toBe(idOf(list, { item: "green tea" }));
    const fn = { normalize: ({ item }: { item: string }) => ({ item: item.toLowerCase() }) };
    expect(idOf(fn, { item: "TEA" })).toBe(idOf(fn, { item: "tea" }));
  });

  test("by a caller's key needs no scope, and keeps the intent as a fingerprint", () => {
    const one = operationOf(engine, {}, { item: "tea" }, { key: "invoice-42" });
    const two = operationOf(engine, {}, { item: "milk" }, { key: "invoice-42" });
    expect(two.ref.id).toBe(one.ref.id);
    expect(two.draft.identity.fingerprint).not.toBe(one.draft.identity.fingerprint);
  });

  test("without scope or key is an error, never a guess", () => {
    expect(() => operationOf(engine, {}, {}, {})).toThrow(MissingScopeError);
  });

  test("takes the ambient scope, and names its run", () => {
    const inside = enterScope("s", () => operationOf(engine, {}, { item: "tea" }, {}), {
      run: "run-1",
    });
    expect(inside.ref.id).toBe(idOf());
    expect(inside.draft.identity).toMatchObject({ scope: "s", run: "run-1" });
  });
});

describe("what is kept of it", () => {
  test("is a deep-frozen copy", () => {
    const given = { deep: { item: "tea" } };
    const { args } = operationOf(engine, {}, given);
    given.deep.item = "milk";
    expect(args).toEqual({ deep: { item: "tea" } });
    expect(Object.isFrozen(args)).toBe(true);
    expect(Object.isFrozen((args as { deep: object }).deep)).toBe(true);
  });

  test("names resource, version and service", () => {
    const { draft } = operationOf(engine, {
      resource: ({ item }: { item: string }) => `stock/${item}`,
      version: "2",
      service: "shop",
    });
    expect(draft.identity).toMatchObject({
      resource: "stock/tea",
      version: "2",
      service: "shop",
      tool: "order",
    });
  });

  test("the facts name tool, id and key, the key of the generation", () => {
    const operation = operationOf(engine);
    expect(factsOf(operation)).toMatchObject({ tool: "order", id: operation.ref.id });
    expect(factsOf(operation, 1).key).not.toBe(factsOf(operation).key);
    expect(about(operation)).toMatchObject({ tenant: "acme", scope: "s" });
  });
});

describe("what would never match again", () => {
  test.each(["call_0a1b2c3d", "toolu_01XyZ9", "chatcmpl-9AbC"])("%s is refused", (id) => {
    expect(() => operationOf(engine, {}, { nested: [{ id }] })).toThrow(VolatileIntentError);
    expect(() => operationOf(engine, {}, { nested: [{ id }] })).toThrow(
      expect.objectContaining({ path: "intent.nested[0].id" }),
    );
  });

  test("outside the intent it is an ordinary value", () => {
    const intent = ({ item }: { item: string }) => ({ item });
    const args = { item: "tea", trace: "call_0a1b2c3d" };
    expect(() => operationOf(engine, { intent }, args)).not.toThrow();
  });

  test("a uuid is an ordinary value, and two that differ only there are noticed", () => {
    const fresh = engineOf();
    const others: string[] = [];
    fresh.events.on("warning", (event) => {
      if (event.code === "volatile_intent") others.push(event.other);
    });
    const first = operationOf(fresh, {}, { id: "0f8fad5b-d9cb-469f-a165-70867728950e" });
    operationOf(fresh, {}, { id: "7c9e6679-7425-40de-944b-e07fc1f90ae7" });
    expect(others).toEqual([first.ref.id]);
    operationOf(fresh, {}, { id: "0f8fad5b-d9cb-469f-a165-70867728950e" }, { scope: "other" });
    expect(others).toHaveLength(1);
  });
});
