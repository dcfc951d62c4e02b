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
const scopeOf = (turn: Turn): string | undefined =>
  inTurn(turn, NAMES, (scope) => scope ?? currentScope()?.id);
const turn = (...messages: unknown[]) => scopeOf({ thread: "t", messages });

describe("the same turn", () => {
  const asked = turn(user("Hi"), assistant("Hello."), user("Pay p1"));

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
  ])("%s play no part", (_, messages) => {
    expect(turn(...messages)).toBe(asked);
  });

  it("a mixed message of tool results and words is its words", () => {
    const mixed = [
      { type: "tool_result", tool_use_id: "toolu_1", content: "…" },
      { type: "text", text: "Pay p1" },
    ];
    expect(turn(user("Hi"), user(mixed))).toBe(asked);
  });

  it("bytes, addresses and dates are content", () => {
    const image = (bytes: number[]) => user([{ type: "image", image: Uint8Array.from(bytes) }]);
    expect(turn(image([1, 2]))).toBe(turn(image([1, 2])));
    expect(turn(image([1, 2]))).not.toBe(turn(image([1, 3])));
    const untyped = (bytes: number[]) => user([{ image: { bytes: Uint8Array.from(bytes) } }]);
    expect(turn(untyped([1, 2]))).not.toBe(turn(untyped([1, 3])));
    const inline = (data: string) => ({ role: "user", parts: [{ inlineData: { data } }] });
    expect(turn(inline("a"))).not.toBe(turn(inline("b")));
    const link = (url: string) => user([{ type: "file", data: new URL(url) }]);
    expect(turn(link("https://x.test/a"))).not.toBe(turn(link("https://x.test/b")));
  });
});

describe("another turn", () => {
  it.each([
    ["a person speaks again", [user("Pay p1"), assistant("Done."), user("And p2")]],
    ["in the same words", [user("Pay p1"), assistant("Done."), user("Pay p1")]],
    ["other words", [user("Pay p2")]],
    ["words moved over", [user("Pay"), user("p1")]],
    ["nothing but a blank", [user("Pay p1 ")]],
  ])("%s", (_, messages) => {
    expect(turn(...messages)).not.toBe(turn(user("Pay p1")));
  });

  it("another thread", () => {
    const messages = [user("Pay p1")];
    expect(scopeOf({ thread: "a", messages })).not.toBe(scopeOf({ thread: "b", messages }));
  });
});

describe("where the scope comes from", () => {
  const messages = [user("Pay p1")];

  it("an explicit one wins over the one around, which wins over the turn", () => {
    expect(scopeOf({ scope: "job", thread: "t", messages })).toBe("job");
    enterScope("around", () => {
      expect(scopeOf({ thread: "t", messages, run: "r" })).toBe("around");
      expect(scopeOf({ scope: "job", thread: "t", messages })).toBe("job");
    });
  });

  it.each<[string, Turn]>([
    ["nothing at all", {}],
    ["a thread", { thread: "t" }],
    ["a run", { run: "run_1" }],
    ["words without a thread", { messages }],
    ["a thread in which nobody has spoken", { thread: "t", messages: [assistant("I pay.")] }],
    ["messages that are none", { thread: "t", messages: { role: "user" } }],
  ])("%s is no scope", (_, given) => {
    expect(() => scopeOf(given)).toThrow(MissingScopeError);
    expect(() => scopeOf(given)).toThrow("Pass { thread: chatId } or call it inside hf.scope");
  });

  it("a run of its own is entered; without one, all runs are one", () => {
    const run = (given: Turn) => inTurn(given, NAMES, () => currentScope()?.run);
    expect(run({ thread: "t", messages, run: "run_1" })).toBe("run_1");
    expect(run({ thread: "t", messages })).toBeUndefined();
  });

  it("a thread that cannot be a name is refused", () => {
    for (const thread of ["", " t", "a\u0000b", "x".repeat(600)]) {
      expect(() => scopeOf({ thread, messages })).toThrow(/scope:/);
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
  expect(threadOf(turnScope("a/b", ["x"]))).toBe("a/b");
  expect(threadOf("conversation-7/turn-3")).toBeUndefined();
});

it("hostile messages are looked at, not obeyed", () => {
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
  expect(personMessages([...none, user([round])])).toHaveLength(1);
  expect(personMessages("Pay p1")).toEqual(personMessages([user("Pay p1")]));
});
