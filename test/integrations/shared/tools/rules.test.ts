/** A rule for every tool at run time, in every adapter; and `again`, for a repeat that a person wants. */

import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { tool as langChainTool } from "@langchain/core/tools";
import { createTool } from "@mastra/core/tools";
import { createStep } from "@mastra/core/workflows";
import { tool as aiTool } from "ai";
import { zodFunction } from "openai/helpers/zod";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Holdfire } from "../../../../src/create.ts";
import { guardTools as guardAi } from "../../../../src/integrations/ai/index.ts";
import { guardTools as guardAnthropic } from "../../../../src/integrations/anthropic/index.ts";
import {
  guardTools as guardLangChain,
  guardTool as guardLangChainTool,
  guardMiddleware,
} from "../../../../src/integrations/langchain/index.ts";
import {
  guardHooks,
  guardTools as guardMastra,
  guardStep,
} from "../../../../src/integrations/mastra/index.ts";
import { guardTools as guardOpenAi } from "../../../../src/integrations/openai/index.ts";
import { guardTool as guardAgentTool } from "../../../../src/integrations/openai-agents/index.ts";
import { guardFunction } from "../../../../src/integrations/shared/tools/guard-function.ts";
import type { RuledCall, ToolRules } from "../../../../src/integrations/shared/tools/rules.ts";
import { openHoldfire } from "../scripted.ts";

const schema = z.object({ to: z.string() });
const about = (name: string) => ({ name, description: name, schema });
const NAMES = ["pay", "poll", "mail-out"] as const;

type Guard = (hf: Holdfire, rules: never) => unknown;

const byName = <T>(make: (name: string) => T) =>
  Object.fromEntries(NAMES.map((name) => [name, make(name)]));
const langChain = NAMES.map((name) => langChainTool(async () => "", about(name)));
const mastra = byName((id) =>
  createTool({ id, description: id, inputSchema: schema, execute: async () => "" }),
);

const SETS: readonly (readonly [string, Guard])[] = [
  [
    "AI SDK",
    (hf, rules) =>
      guardAi(
        byName(() => aiTool({ inputSchema: schema, execute: async () => "" })),
        hf,
        rules,
      ),
  ],
  [
    "OpenAI",
    (hf, rules) => {
      const make = (name: string) => zodFunction({ name, parameters: schema, function: () => "" });
      return guardOpenAi(NAMES.map(make), hf, rules);
    },
  ],
  [
    "Anthropic",
    (hf, rules) => {
      const make = (name: string) =>
        betaZodTool({ name, description: name, inputSchema: schema, run: () => "" });
      return guardAnthropic(NAMES.map(make), hf, rules);
    },
  ],
  ["LangChain", (hf, rules) => guardLangChain(langChain, hf, rules)],
  ["LangChain, middleware", (hf, rules) => guardMiddleware(hf, rules, { tools: langChain })],
  ["Mastra", (hf, rules) => guardMastra(mastra, hf, rules)],
  ["Mastra, hooks", (hf, rules) => guardHooks(mastra, hf, rules)],
];

describe.each(SETS)("%s", (_, guard) => {
  const made = (rules: object | undefined) => () => guard(openHoldfire(), rules as never);

  test("tools without a rule are refused, all of them named at once", () => {
    expect(made({ poll: "read" })).toThrow(
      /rules: these 2 tools have no rule: { pay: …, "mail-out": … }.*"read".*"write".*"destructive".*"\*": "write"/,
    );
    expect(made({})).toThrow(/these 3 tools have no rule/);
    expect(made(undefined)).toThrow(/rules: must have a rule for each tool/);
  });

  test("each has one, or * has one for all others", () => {
    expect(made({ pay: "write", poll: "read", "mail-out": { kind: "destructive" } })).not.toThrow();
    expect(made({ poll: "read", "*": "write" })).not.toThrow();
    expect(made({ "*": "write", plo: "read" })).toThrow(/rules\.plo: there is no tool/);
  });

  test("a rule is a kind, or has one", () => {
    expect(made({ "*": "write", pay: {} })).toThrow(/rules\.pay: must have a kind: "read"/);
    expect(made({ "*": "safe" })).toThrow(/rules\.\*: must be a kind, or an object with a kind/);
  });
});

test("what guards one tool wants its rule", () => {
  const hf = openHoldfire();
  const [given] = langChain;
  const definition = { name: "pay", description: "", execute: async () => "" };
  const step = { id: "pay", inputSchema: schema, outputSchema: schema, execute: async () => ({}) };
  for (const rule of [undefined, {}] as never[]) {
    expect(() => guardLangChainTool(given as never, hf, rule)).toThrow(/a kind/);
    expect(() => guardAgentTool(definition, hf, rule)).toThrow(/a kind/);
    expect(() => guardStep(step, hf, rule)).toThrow(/a kind/);
  }
  expect(createStep(guardStep(step, hf, "write") as never)).toBeDefined();
});

test("a name that every object has is not a rule", () => {
  const tools = { constructor: aiTool({ inputSchema: schema, execute: async () => "" }) };
  expect(() => guardAi(tools, openHoldfire(), {} as never)).toThrow(/{ constructor: … }/);
});

test("a tool that the agent has and the middleware was not told of is refused when it is called", async () => {
  const guard = guardMiddleware(openHoldfire(), { pay: "write" }) as unknown as {
    wrapToolCall(request: object, handler: () => unknown): Promise<unknown>;
  };
  const request = { tool: langChain[1], toolCall: { id: "c1", name: "poll", args: { to: "ana" } } };
  let called = 0;
  const handler = () => {
    called += 1;
  };
  await expect(guard.wrapToolCall(request, handler)).rejects.toThrow(/no rule: { poll: … }/);
  expect(called).toBe(0);
});

describe("again", () => {
  const mailing = (again: ToolRules["again"], hf = openHoldfire()) => {
    let sent = 0;
    const call = guardFunction<{ readonly button?: string }>(hf, {
      name: "mail",
      rules: { kind: "write", again },
      line: "",
      execute: () => ++sent,
    });
    return { hf, sent: () => sent, call };
  };
  const args = { to: "ana" };

  test("a repeat that a person wants is another operation; the model's own repeat of it is not", async () => {
    const { call, sent } = mailing((_, { context }) => context.button);
    const turn = { scope: "s", context: {} };
    const clicked = { scope: "s", context: { button: "clicked at 14:05" } };
    const replies = [];
    for (const given of [turn, turn, clicked, clicked, turn]) replies.push(await call(args, given));
    expect(replies.map(({ data }) => data)).toEqual([1, 1, 2, 2, 1]);
    expect(replies.map(({ replayed }) => replayed)).toEqual([false, true, false, true, true]);
    expect(sent()).toBe(2);
    expect(replies[1]?.message).toContain("a person must ask for it in a new message");
  });

  test("it is asked about the arguments and the call", async () => {
    const seen: unknown[] = [];
    const { call } = mailing((given, asked) => {
      seen.push(given, asked);
      return undefined;
    });
    const context = { button: "b" };
    await call(args, { thread: "t", turn: "m1", messages: "Mail", toolCallId: "call_1", context });
    const asked: RuledCall = {
      toolCallId: "call_1",
      scope: undefined,
      thread: "t",
      turn: "m1",
      messages: "Mail",
      context,
    };
    expect(seen).toEqual([args, asked]);
  });

  test.each([
    ["the id of the tool call", "id-of-this-call"],
    ["what looks like one", "call_1a2b3c4d5e6f7a8b9c0d1e2f"],
  ])("%s is refused: each try of a model would be another operation", async (_, id) => {
    const { call, sent } = mailing(() => id);
    const given = { scope: "s", toolCallId: "id-of-this-call", context: {} };
    await expect(call(args, given)).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_VOLATILE_INTENT",
    });
    expect(sent()).toBe(0);
  });

  test("what is no text is refused, a promise too", async () => {
    for (const wrong of [7, Promise.resolve("again"), Promise.reject(new Error("x")), ""]) {
      const { call, sent } = mailing(() => wrong as never);
      await expect(call(args, { scope: "s", context: {} })).rejects.toMatchObject({
        code: "ERR_HOLDFIRE_INVALID_INPUT",
      });
      expect(sent()).toBe(0);
    }
  });
});
