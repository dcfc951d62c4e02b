import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, it, test } from "vitest";
import { MissingScopeError } from "../../../../src/errors.ts";
import { personMessages } from "../../../../src/integrations/shared/tools/person-messages.ts";
import { inTurn, runOf, type Turn } from "../../../../src/integrations/shared/tools/turn.ts";
import { currentScope, enterScope } from "../../../../src/key/scope.ts";
import { threadOf, turnScope } from "../../../../src/key/turn.ts";

const user = (content: unknown, more: object = {}) => ({ role: "user", content, ...more });
const assistant = (content: unknown) => ({ role: "assistant", content });
const NAMES = { tool: "pay", line: "Pass { thread: chatId }" };

/** The scope that a call would have, by either way. */
const scopeOf = (turn: Turn): Promise<string | undefined> =>
  inTurn(turn, NAMES, (scope) => scope ?? currentScope()?.id);
const turn = (...messages: unknown[]) => scopeOf({ thread: "t", messages });

describe("the same turn", () => {
  const asked = () => turn(user("Hi"), assistant("Hello."), user("Pay p1"));

  test.each([
    ["ids", [user("Hi", { id: "msg_1" }), assistant("Hello."), user("Pay p1", { id: "msg_2" })]],
    ["timestamps", [user("Hi", { createdAt: 1 }), assistant("Hello."), user("Pay p1")]],
    [
      "system prompts",
      [
        { role: "system", content: "It is 10:01." },
        user("Hi"),
        assistant("Hello."),
        user("Pay p1"),
      ],
    ],
    ["the assistant's words", [user("Hi"), assistant("Good day!"), user("Pay p1")]],
    [
      "tool calls and their results",
      [
        user("Hi"),
        assistant([{ type: "tool_use", id: "toolu_1", name: "look", input: {} }]),
        user([{ type: "tool_result", tool_use_id: "toolu_1", content: "…" }]),
        { role: "tool", tool_call_id: "call_1", content: "…" },
        user("Pay p1"),
        { type: "function_call_output", call_id: "call_1", output: "…" },
      ],
    ],
    [
      "the form of a text",
      [
        user([{ type: "text", text: "Hi", cache_control: { type: "ephemeral" } }]),
        user([{ type: "input_text", text: "Pay p1" }]),
      ],
    ],
    [
      "the framework",
      [
        new SystemMessage("Be kind."),
        new HumanMessage({ content: "Hi", id: "1" }),
        new AIMessage("Hello."),
        new HumanMessage("Pay p1"),
        new ToolMessage({ content: "…", tool_call_id: "call_1" }),
      ],
    ],
    [
      "tool results in Bedrock's form",
      [
        user([{ text: "Hi" }]),
        assistant([{ toolUse: { toolUseId: "tooluse_1", name: "look", input: {} } }]),
        user([{ toolResult: { toolUseId: "tooluse_1", content: [{ text: "…" }] } }]),
        user([{ text: "Pay p1" }, { cachePoint: { type: "default" } }]),
        user([{ toolResult: { toolUseId: "tooluse_2", content: [{ text: "…" }] } }]),
      ],
    ],
    [
      "tool results in Gemini's form",
      [
        { role: "user", parts: [{ text: "Hi" }] },
        { role: "model", parts: [{ functionCall: { name: "look", args: {} } }] },
        { role: "user", parts: [{ functionResponse: { name: "look", response: {} } }] },
        { role: "user", parts: [{ text: "Pay p1" }] },
        { role: "user", parts: [{ function_response: { name: "look", response: {} } }] },
      ],
    ],
    [
      "results of tools that a server ran",
      [
        user("Hi"),
        user([{ type: "mcp_tool_result", tool_use_id: "t", content: "…" }]),
        user("Pay p1"),
      ],
    ],
    [
      "parts that nobody knows",
      [
        user([
          { type: "text", text: "Hi" },
          { type: "data-clock", at: "10:01" },
        ]),
        user("Pay p1"),
        user([{ weather: "fine" }]),
      ],
    ],
    [
      "parts inside of content",
      [user({ format: 2, parts: [{ type: "text", text: "Hi" }] }), user("Pay p1")],
    ],
    [
      "parts in place of content",
      [user("Hi"), { role: "user", parts: [{ type: "text", text: "Pay p1" }] }],
    ],
  ])("%s play no part", async (_, messages) => {
    expect(await turn(...messages)).toBe(await asked());
  });

  it("a mixed message of tool results and words is its words", async () => {
    const mixed = [
      { type: "tool_result", tool_use_id: "toolu_1", content: "…" },
      { type: "text", text: "Pay p1" },
    ];
    expect(await turn(user("Hi"), user(mixed))).toBe(await asked());
  });

  it("bytes and addresses are content", async () => {
    const image = (bytes: number[]) => user([{ type: "image", image: Uint8Array.from(bytes) }]);
    expect(await turn(image([1, 2]))).toBe(await turn(image([1, 2])));
    expect(await turn(image([1, 2]))).not.toBe(await turn(image([1, 3])));
    const untyped = (bytes: number[]) => user([{ image: { bytes: Uint8Array.from(bytes) } }]);
    expect(await turn(untyped([1, 2]))).not.toBe(await turn(untyped([1, 3])));
    const inline = (data: string) => ({ role: "user", parts: [{ inlineData: { data } }] });
    expect(await turn(inline("a"))).not.toBe(await turn(inline("b")));
    const link = (url: string) => user([{ type: "file", data: new URL(url) }]);
    expect(await turn(link("https://x.test/a"))).not.toBe(await turn(link("https://x.test/b")));
  });
});

describe("another turn", () => {
  it.each([
    ["a person speaks again", [user("Pay p1"), assistant("Done."), user("And p2")]],
    ["in the same words", [user("Pay p1"), assistant("Done."), user("Pay p1")]],
    ["other words", [user("Pay p2")]],
    ["words moved over", [user("Pay"), user("p1")]],
  ])("%s", async (_, messages) => {
    expect(await turn(...messages)).not.toBe(await turn(user("Pay p1")));
  });

  it("another thread", async () => {
    const messages = [user("Pay p1")];
    const other = await scopeOf({ thread: "b", messages });
    expect(await scopeOf({ thread: "a", messages })).not.toBe(other);
  });
});

describe("where the scope comes from", () => {
  const messages = [user("Pay p1")];

  it("an explicit one wins over the one around, which wins over the turn", async () => {
    expect(await scopeOf({ scope: "job", thread: "t", messages })).toBe("job");
    await enterScope("around", async () => {
      expect(await scopeOf({ thread: "t", messages, run: "r" })).toBe("around");
      expect(await scopeOf({ scope: "job", thread: "t", messages })).toBe("job");
    });
  });

  it.each<[string, Turn]>([
    ["nothing at all", {}],
    ["a thread", { thread: "t" }],
    ["a run", { run: "run_1" }],
    ["words without a thread", { messages }],
    ["a thread in which nobody has spoken", { thread: "t", messages: [assistant("I pay.")] }],
    ["messages that are none", { thread: "t", messages: { role: "user" } }],
  ])("%s is no scope", async (_, given) => {
    await expect(scopeOf(given)).rejects.toThrow(MissingScopeError);
    const line = "Pass { thread: chatId } or call it inside hf.scope";
    await expect(scopeOf(given)).rejects.toThrow(line);
  });

  it("a run of its own is entered; without one, all runs are one", async () => {
    const run = (given: Turn) => inTurn(given, NAMES, () => currentScope()?.run());
    expect(await run({ thread: "t", messages, run: "run_1" })).toBe("run_1");
    expect(await run({ thread: "t", messages })).toBeUndefined();
  });

  it("a turn that the caller names, whatever was said", async () => {
    const named = await scopeOf({ thread: "t", turn: "msg_7", messages });
    expect(await scopeOf({ thread: "t", turn: "msg_7" })).toBe(named);
    expect(await scopeOf({ thread: "t", turn: "msg_8", messages })).not.toBe(named);
    expect(await scopeOf({ thread: "u", turn: "msg_7", messages })).not.toBe(named);
    expect(threadOf(named ?? "")).toBe("t");
  });

  it("a thread that cannot be a name is refused", async () => {
    for (const thread of ["", " t", "a\u0000b", "x".repeat(600)]) {
      await expect(scopeOf({ thread, messages })).rejects.toThrow(/scope:/);
    }
  });
});

it("a run is named by the very message: handed on it is the same, made again it is another", () => {
  const said = user("Pay p1");
  const first = runOf([said]);
  expect(runOf([said, assistant("…"), { role: "tool", content: "…" }])).toBe(first);
  expect(runOf([user("Pay p1")])).not.toBe(first);
  expect(runOf("Pay p1")).toBeUndefined();
});

it("a turn knows its thread, and another scope has none", () => {
  const turn = turnScope("a/b", ["x"]);
  expect(threadOf(turn)).toBe("a/b");
  expect(threadOf("conversation-7/turn-3")).toBeUndefined();
  // What looks like a turn, and was not named by us: ids of all sorts, and a turn of ours under another thread.
  const uuid = "dbe21077-5c7a-4c33-9e0f-0b6c1a2d3e4f";
  const ids = [uuid, `3-${"x".repeat(22)}`, turn.slice("a/b/turn-".length, -1)];
  for (const id of ids) expect(threadOf(`a/b/turn-${id}`)).toBeUndefined();
  expect(threadOf(turn.replace("a/b", "a/c"))).toBeUndefined();
});

it("hostile messages are looked at, not obeyed", async () => {
  const trap = new Proxy(
    {},
    {
      get() {
        throw new Error("trap");
      },
    },
  );
  const round: Record<string, unknown> = { type: "file" };
  round.self = round;
  const none = [trap, null, 7, user(10n), user(undefined), user([]), user([trap, null])];
  expect(await personMessages([...none, user([round])])).toHaveLength(1);
  expect(await personMessages("Pay p1")).toEqual(await personMessages([user("Pay p1")]));
});
