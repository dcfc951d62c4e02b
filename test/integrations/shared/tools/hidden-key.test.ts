import { describe, expect, it } from "vitest";
import { z } from "zod";
import * as z3 from "zod/v3";
import {
  hideKey,
  withKey,
  withoutKey,
} from "../../../../src/integrations/shared/tools/hidden-key.ts";

const json = {
  type: "object",
  properties: { to: { type: "string" }, idempotency_key: { type: "string" } },
  required: ["to", "idempotency_key"],
};
const shape = { to: z.string(), idempotency_key: z.string().uuid() };

describe("a property for the key is hidden", () => {
  it("in JSON Schema, whose original stays as it was", () => {
    const { schema, property } = hideKey(json);
    expect(property).toBe("idempotency_key");
    expect(schema).toEqual({
      type: "object",
      properties: { to: { type: "string" } },
      required: ["to"],
    });
    expect(Object.keys(json.properties)).toHaveLength(2);
  });

  it("in JSON Schema that zod made", () => {
    const { schema } = hideKey(z.toJSONSchema(z.object(shape)));
    expect(schema).toMatchObject({ type: "object", required: ["to"] });
    expect(JSON.stringify(schema)).not.toContain("idempotency_key");
  });

  it.each([
    ["zod 4", z.object(shape)],
    ["zod 3", z3.z.object({ to: z3.z.string(), idempotency_key: z3.z.string().uuid() })],
  ])("in an object of %s, which stays one", (_, original) => {
    const { schema, property } = hideKey(original);
    expect(property).toBe("idempotency_key");
    const cut = schema as z.ZodObject;
    expect(Object.keys(cut.shape)).toEqual(["to"]);
    expect(cut.parse({ to: "ana", idempotency_key: "mine" })).toEqual({ to: "ana" });
  });

  it("in a Standard Schema that cannot be cut: it still checks the rest", async () => {
    const refined = z.object(shape).refine(({ to }) => to !== "nobody");
    const { schema, property } = hideKey(refined);
    expect(property).toBe("idempotency_key");
    const { "~standard": standard } = schema as typeof refined;
    expect(standard.jsonSchema.input({ target: "draft-07" })).toMatchObject({ required: ["to"] });
    expect(await standard.validate({ to: "ana" })).toEqual({ value: { to: "ana" } });
    expect(await standard.validate({ to: "nobody" })).toHaveProperty("issues");
    expect(await standard.validate(7)).toHaveProperty("issues");
  });

  it("by its other name, too", () => {
    expect(hideKey(z.object({ idempotencyKey: z.string() })).property).toBe("idempotencyKey");
  });
});

it.each([
  ["no schema", undefined],
  ["a schema without it", z.object({ to: z.string() })],
  ["JSON Schema without it", { type: "object", properties: { key: { type: "string" } } }],
  ["a property of a property", { type: "object", properties: { a: json } }],
  ["an inherited name", { type: "object", properties: Object.create(json.properties) }],
])("%s passes as it is", (_, given) => {
  expect(hideKey(given)).toEqual({ schema: given, property: undefined });
});

it("what the model wrote is dropped, what we minted is put in", () => {
  expect(withoutKey({ to: "ana", idempotency_key: "mine" }, "idempotency_key")).toEqual({
    to: "ana",
  });
  expect(withKey({ to: "ana" }, "idempotency_key", "ours")).toEqual({
    to: "ana",
    idempotency_key: "ours",
  });
  expect(withoutKey("text", "idempotency_key")).toBe("text");
});
