import { describe, expect, test } from "vitest";
import { checkArguments, typed } from "../../src/engine/define/schema.ts";

const schemaOf = (validate: (value: unknown) => unknown) =>
  ({ "~standard": { version: 1, vendor: "test", validate } }) as never;

describe("arguments", () => {
  test("without a schema are taken as they are", async () => {
    const args = { a: 1 };
    expect(await checkArguments("t", undefined, args)).toBe(args);
    expect(await checkArguments("t", typed<{ a: number }>(), args)).toBe(args);
  });

  test("are the schema's output, at once or later", async () => {
    expect(
      await checkArguments(
        "t",
        schemaOf(() => ({ value: 2 })),
        1,
      ),
    ).toBe(2);
    expect(
      await checkArguments(
        "t",
        schemaOf(async () => ({ value: 3 })),
        1,
      ),
    ).toBe(3);
  });

  test("a schema that is a function is a schema", async () => {
    const callable = Object.assign(() => {}, {
      "~standard": { version: 1, vendor: "test", validate: () => ({ value: "checked" }) },
    });
    expect(await checkArguments("t", callable as never, 1)).toBe("checked");
  });

  test.each([
    [[{ message: "too small", path: ["items", 3, "price"] }], "args.items.3.price"],
    [[{ message: "too small", path: [{ key: "items" }, { key: 0 }] }], "args.items.0"],
    [[{ message: "bad" }], "args"],
    [
      [
        { message: "first", path: ["a"] },
        { message: "second", path: ["b"] },
      ],
      "args.a",
    ],
  ])("that break a rule are refused, by path: %j", async (issues, path) => {
    await expect(
      checkArguments(
        "pay",
        schemaOf(() => ({ issues })),
        {},
      ),
    ).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_INVALID_INPUT",
      path,
      message: expect.stringContaining(`pay: ${issues[0]?.message}`),
    });
  });

  test("a schema that finds fault without an issue refuses too", async () => {
    await expect(
      checkArguments(
        "pay",
        schemaOf(() => ({ issues: [] })),
        {},
      ),
    ).rejects.toMatchObject({ path: "args" });
  });
});
