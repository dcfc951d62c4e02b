/** A model makes up a key, another one each time: it is no part of the intent, and one effect is one effect. */

import { createOpenAI } from "@ai-sdk/openai";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool as langChainTool } from "@langchain/core/tools";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { Agent, tool as agentTool, OpenAIChatCompletionsModel, Runner } from "@openai/agents";
import { tool as aiTool, generateText, isStepCount, jsonSchema } from "ai";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Holdfire } from "../../../../src/create.ts";
import { guardTools as guardAi } from "../../../../src/integrations/ai/index.ts";
import { guardTool as guardLangChain } from "../../../../src/integrations/langchain/index.ts";
import { guardTools as guardOpenAi } from "../../../../src/integrations/openai/index.ts";
import { guardTool as guardAgent } from "../../../../src/integrations/openai-agents/index.ts";
import { modelSaying, openHoldfire } from "../scripted.ts";

(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

const JSON_SCHEMA = {
  type: "object",
  properties: { to: { type: "string" } },
  required: ["to"],
  additionalProperties: true,
} as const;
const STRICT_JSON = { ...JSON_SCHEMA, additionalProperties: false } as const;
const LOOSE = z.looseObject({ to: z.string() });
const STRICT = z.strictObject({ to: z.string() });

const CALLS = [
  { to: "ana", idempotency_key: "k1" },
  { to: "ana", idempotencyKey: "k2" },
  { to: "ana", "Idempotency-Key": "k3" },
  { to: "ana", idempotency_token: "k4", "x-idempotency-key": "k5" },
];

type Execute = (args: unknown) => Promise<string>;
type Play = (hf: Holdfire, schema: never, execute: Execute) => Promise<unknown>;

const asked = () => modelSaying(...CALLS.map((args) => ({ tool: "send", args })));

const aiSdk: Play = async (hf, inputSchema, execute) => {
  const { openai: baseURL } = await asked();
  const tools = guardAi(
    { send: aiTool({ inputSchema, execute }) },
    hf,
    { send: "write" },
    { thread: "t" },
  );
  const model = createOpenAI({ apiKey: "x", baseURL }).chat("m");
  await generateText({ model, tools, prompt: "Send", stopWhen: isStepCount(6) });
};

const langGraph: Play = async (hf, schema, execute) => {
  const given = langChainTool(execute as never, { name: "send", description: "Sends.", schema });
  const send = guardLangChain(given as never, hf, "write", { thread: "t" });
  const node = new ToolNode([send as never], { handleToolErrors: false });
  const messages: (HumanMessage | AIMessage)[] = [new HumanMessage({ id: "h", content: "Send" })];
  for (const [at, args] of CALLS.entries()) {
    const tool_calls = [{ type: "tool_call" as const, id: `call_${at}`, name: "send", args }];
    messages.push(new AIMessage({ content: "", tool_calls }));
    await node.invoke({ messages }, { configurable: { thread_id: "t" } });
  }
};

const agents: Play = async (hf, parameters, execute) => {
  const { openai: baseURL } = await asked();
  const client = new OpenAI({ apiKey: "x", baseURL, maxRetries: 0 }) as never;
  const strict = "parse" in parameters;
  const definition = { name: "send", description: "Sends.", parameters, strict, execute };
  const send = agentTool(guardAgent(definition as never, hf, "write", { scope: "s" }) as never);
  const model = new OpenAIChatCompletionsModel(client, "m");
  const agent = new Agent({ name: "clerk", instructions: "x", model, tools: [send] });
  await new Runner({ tracingDisabled: true }).run(agent, "Send");
};

const openai: Play = async (hf, parameters, execute) => {
  const { openai: baseURL } = await asked();
  const parse = (raw: string) =>
    (parameters as { parse?: (value: unknown) => unknown }).parse?.(JSON.parse(raw)) ??
    JSON.parse(raw);
  const isZod = "parse" in parameters;
  const shown = isZod ? STRICT_JSON : parameters;
  const tool = { name: "send", description: "Sends.", parameters: shown, parse, function: execute };
  const tools = guardOpenAi(
    [{ type: "function", function: tool }],
    hf,
    { send: "write" },
    { thread: "t" },
  );
  const client = new OpenAI({ apiKey: "x", baseURL, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "Send" }];
  await client.chat.completions.runTools({ model: "m", messages, tools: tools as never }).done();
};

describe.each<[string, Play, unknown, unknown]>([
  ["AI SDK", aiSdk, jsonSchema(JSON_SCHEMA as never), jsonSchema(STRICT_JSON as never)],
  ["LangGraph", langGraph, JSON_SCHEMA, STRICT_JSON],
  ["OpenAI Agents", agents, JSON_SCHEMA, STRICT_JSON],
  ["OpenAI", openai, JSON_SCHEMA, STRICT_JSON],
])("%s: a key that a model makes up", (_, play, json, strictJson) => {
  test.each([
    ["JSON Schema", json],
    ["strict JSON Schema", strictJson],
    ["zod", LOOSE],
    ["strict zod", STRICT],
  ])("is dropped under %s: four calls are one effect", async (_name, schema) => {
    const hf = openHoldfire();
    const effects: unknown[] = [];
    await play(hf, schema as never, async (args) => {
      effects.push(args);
      return "sent";
    });
    expect(effects).toHaveLength(1);
    const [first] = effects;
    expect(typeof first === "string" ? JSON.parse(first) : first).toEqual({ to: "ana" });
    expect((await hf.operations.list()).items).toHaveLength(1);
  });
});

test("a strict schema still refuses what else it does not know", async () => {
  const hf = openHoldfire();
  const given = langChainTool(async () => "sent", {
    name: "send",
    description: "x",
    schema: STRICT,
  });
  const send = guardLangChain(given, hf, "write", { scope: "s" });
  await expect(send.invoke({ to: "ana", colour: "red" } as never)).rejects.toThrow();
});
