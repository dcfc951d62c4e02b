import { describe, expect, test } from "vitest";
import { snapshotArguments } from "../../src/engine/call/input.ts";
import type { Tool } from "../../src/engine/define/tool.ts";

import { engineOf } from "./engine-of.ts";

const engine = engineOf();

const toolOf = (validate?: (value: unknown) => unknown): Tool =>
  ({
    name: "t",
    input: validate && { "~standard": { version: 1, vendor: "test", validate } },
  }) as unknown as Tool;

const snapshot = (tool: Tool, given: unknown) => snapshotArguments(tool, given, 1_000, engine);

describe("the copy of the arguments", () => {
  test("is taken before anything is waited for", async () => {
    const given = { deep: { item: "tea" } };
    const taking = snapshot(toolOf(), given);
    given.deep.item = "milk";
    expect((await taking).value).toEqual({ deep: { item: "tea" } });
  });

  test("is what a schema sees, and its output is copied too", async () => {
    const output = { item: "TEA" };
    const given = { item: "tea" };
    const taking = snapshot(
      toolOf(async (seen) => {
        expect(seen).toEqual({ item: "tea" });
        expect(seen).not.toBe(given);
        return { value: output };
      }),
      given,
    );
    given.item = "milk";
    const { value, text } = await taking;
    output.item = "changed";
    expect(value).toEqual({ item: "TEA" });
    expect(text).toBe('{"item":"TEA"}');
    expect(Object.isFrozen(value)).toBe(true);
  });

  test("a schema's output that JSON cannot carry is refused", async () => {
    const tool = toolOf(() => ({ value: { at: new Date(0) } }));
    await expect(snapshot(tool, {})).rejects.toMatchObject({ path: "args.at" });
  });

  test("a schema that throws passes its error on, and one that hangs is given up", async () => {
    const boom = new Error("boom");
    const throwing = toolOf(() => Promise.reject(boom));
    await expect(snapshot(throwing, {})).rejects.toBe(boom);
    const hanging = snapshot(
      toolOf(() => new Promise(() => {})),
      {},
    );
    await expect(engine.clock.run(Promise.resolve(hanging))).rejects.toThrow("not checked in time");
  });
});
