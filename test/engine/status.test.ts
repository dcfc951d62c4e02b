import { describe, expect, it, onTestFinished } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { typed } from "../../src/engine/define/schema.ts";
import { turnScope } from "../../src/key/turn.ts";
import { memoryStore } from "../../src/stores/memory.ts";

interface Args {
  readonly n: number;
}

function stage() {
  const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
  onTestFinished(() => hf.close());
  const tool = (name: string, run: () => unknown, kind: "write" | "destructive" = "write") =>
    hf.tool({ name, kind, input: typed<Args>(), run });
  return {
    hf,
    status: hf.statusTool(),
    pay: tool("pay", () => ({ secret: "s3cret" })),
    lose: tool("lose", () => {
      throw new TypeError("fetch failed");
    }),
    refuse: hf.tool({
      name: "refuse",
      kind: "write",
      input: typed<Args>(),
      classify: () => "rejected",
      run: () => {
        throw new Error("no");
      },
    }),
    wipe: tool("wipe", () => "wiped", "destructive"),
  };
}

describe("what became of it", () => {
  it.each([
    ["pay", true, "committed", /is done/],
    ["lose", false, "unknown", /Do not call/],
    ["refuse", false, "not_applied", /The service said no\..* Nothing happened/],
    ["wipe", false, "held", /must approve/],
  ] as const)("%s: ok %s, %s", async (name, ok, outcome, words) => {
    const { status, ...tools } = stage();
    const { id, key } = await tools[name].outcome({ n: 1 }, { scope: "s", aliases: ["call_1"] });
    for (const operation of [id, key, "call_1"]) {
      const told = await status.reply({ operation }, { scope: "s" });
      expect(told).toMatchObject({ ok, outcome, operation: id, replayed: true, data: { key } });
      expect(told.message).toMatch(words);
    }
  });

  it("under way: told while it is", async () => {
    const { hf, status } = stage();
    let end = (_: string) => {};
    const ended = new Promise<string>((resolve) => {
      end = resolve;
    });
    let begin = () => {};
    const began = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const slow = hf.tool({
      name: "slow",
      kind: "write",
      run: async (_: Args) => {
        begin();
        return ended;
      },
    });
    const calling = slow({ n: 1 }, { scope: "s", aliases: ["call_1"] });
    await began;
    const told = await status({ operation: "call_1" }, { scope: "s" });
    expect(told).toMatchObject({ ok: false, outcome: "in_progress", data: { attempts: 1 } });
    end("done");
    await calling;
  });

  it("a person's no", async () => {
    const { hf, status, wipe } = stage();
    const { id } = await wipe.outcome({ n: 1 }, { scope: "s" });
    const [asked] = (await hf.approvals.list()).items;
    await hf.approvals.deny(id, { by: "ana", digest: asked?.digest ?? "" });
    const told = await status({ operation: id }, { scope: "s" });
    expect(told).toMatchObject({ ok: false, outcome: "denied" });
  });
});

describe("what is not told", () => {
  it("results, arguments, and who said what", async () => {
    const { status, pay } = stage();
    const { id } = await pay.outcome({ n: 4242 }, { scope: "s" });
    const text = JSON.stringify(await status({ operation: id }, { scope: "s" }));
    expect(text).not.toContain("s3cret");
    expect(text).not.toContain("4242");
  });

  it("operations of another scope, another thread and another tenant", async () => {
    const { hf, status, pay } = stage();
    const turn = (thread: string, n: number) => turnScope(thread, Array(n).fill("words"));
    const { id } = await pay.outcome({ n: 1 }, { scope: turn("t", 1), aliases: ["call_1"] });
    const seen = async (scope: string, operation = id, tool = status) =>
      (await tool({ operation }, { scope })).outcome;
    expect(await seen(turn("t", 1))).toBe("committed");
    expect(await seen(turn("t", 2))).toBe("committed");
    expect(await seen(turn("u", 1))).toBe("not_found");
    expect(await seen("t")).toBe("not_found");
    expect(await seen(turn("t", 2), "call_1")).toBe("not_found");
    expect(await seen(turn("t", 1), id, hf.forTenant("other").statusTool())).toBe("not_found");
    const { message } = await status({ operation: id }, { scope: "other" });
    expect(message).toContain("does not show that nothing happened");
  });
});

it("it needs a scope, from around or from the call", async () => {
  const { hf, status, pay } = stage();
  const { id } = await pay.outcome({ n: 1 }, { scope: "s" });
  await expect(status({ operation: id })).rejects.toMatchObject({
    code: "ERR_HOLDFIRE_MISSING_SCOPE",
  });
  const told = await hf.scope("s", () => status({ operation: id }));
  expect(told.outcome).toBe("committed");
});

it.each([
  undefined,
  null,
  {},
  { operation: 7 },
  { operation: "" },
  { operation: "a\u0000b" },
  { operation: "x".repeat(300) },
])("a question that cannot be a name is refused: %j", async (question) => {
  const { status } = stage();
  await expect(status(question as never, { scope: "s" })).rejects.toMatchObject({
    code: "ERR_HOLDFIRE_INVALID_INPUT",
    path: "args.operation",
  });
});

it("it says what it is in a form that a model can be given", () => {
  const { toolName, description, inputSchema } = stage().status;
  expect(toolName).toBe("operation_status");
  expect(description).toContain("instead of calling the tool again");
  expect(inputSchema).toMatchObject({ type: "object", required: ["operation"] });
});
