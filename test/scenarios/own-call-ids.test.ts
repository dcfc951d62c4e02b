/** Ids shaped like those of tool calls may be resources of the service itself: the calls of a voice agent. */
import { describe, expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { VolatileIntentError } from "../../src/errors.ts";
import { memoryStore } from "../../src/stores/memory.ts";

const PHONE_CALL = { call: "call_8f2kd93jfk20s" };
const SCOPE = { scope: "shift-7" };

function hangUp(volatileIds?: "allow" | "refuse") {
  const hf = createHoldfire({ app: "voice", store: memoryStore({ forgets: "accepted" }) });
  const ended: string[] = [];
  const tool = hf.tool({
    name: "hang_up",
    kind: "write",
    ...(volatileIds ? { volatileIds } : {}),
    run: ({ call }: typeof PHONE_CALL) => ended.push(call),
  });
  return { tool, ended };
}

describe("an id shaped like that of a tool call", () => {
  test.each([undefined, "refuse"] as const)("is refused by default (%s)", async (volatileIds) => {
    const { tool, ended } = hangUp(volatileIds);
    await expect(tool(PHONE_CALL, SCOPE)).rejects.toThrow(VolatileIntentError);
    expect(ended).toEqual([]);
  });

  test("is a value like others where the tool allows it", async () => {
    const { tool, ended } = hangUp("allow");
    await tool(PHONE_CALL, SCOPE);
    expect(await tool.outcome(PHONE_CALL, SCOPE)).toMatchObject({ replayed: true });
    await tool({ call: "call_other81" }, SCOPE);
    expect(ended).toEqual([PHONE_CALL.call, "call_other81"]);
  });

  test("is refused even there if it is the id of this very tool call", async () => {
    const { tool, ended } = hangUp("allow");
    const aliases = [PHONE_CALL.call];
    await expect(tool(PHONE_CALL, { ...SCOPE, aliases })).rejects.toThrow(VolatileIntentError);
    expect(ended).toEqual([]);
  });
});

test("another value of the option is refused", () => {
  expect(() => hangUp("ignore" as never)).toThrow("volatileIds");
});
