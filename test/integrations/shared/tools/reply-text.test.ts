/** A result that JSON cannot carry was still a result: the model hears that it is done, and no failure of an SDK. */

import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { ChatOpenAI } from "@langchain/openai";
import { Agent as MastraAgent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { Agent, tool as agentTool, OpenAIChatCompletionsModel, Runner } from "@openai/agents";
import { tool as aiTool, generateText, isStepCount } from "ai";
import { createAgent, tool as langChainTool } from "langchain";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Holdfire } from "../../../../src/create.ts";
import { guardTools as guardAi } from "../../../../src/integrations/ai/index.ts";
import { guardTools as guardAnthropic } from "../../../../src/integrations/anthropic/index.ts";
import { guardTool as guardLangChain } from "../../../../src/integrations/langchain/index.ts";
import { guardTools as guardMastra } from "../../../../src/integrations/mastra/index.ts";
import {
  guardTools as guardOpenAi,
  runToolCalls,
} from "../../../../src/integrations/openai/index.ts";
import { guardTool as guardAgent } from "../../../../src/integrations/openai-agents/index.ts";
import type { ModelServer } from "../../../servers/model-server.ts";
import { envelopes, modelSaying, openHoldfire } from "../scripted.ts";

(globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;

// biome-ignore lint/suspicious/noExplicitAny: each SDK has a type of its own for results
type Execute = () => Promise<any>;
type Play = (server: ModelServer, hf: Holdfire, execute: Execute) => Promise<unknown>;

const schema = z.object({ to: z.string() });
const about = { name: "send", description: "Sends." };
const rules = { send: "write" } as const;
const messages = [{ role: "user" as const, content: "Send" }];

const aiSdk: Play = (server, hf, execute) => {
  const model = createOpenAI({ apiKey: "x", baseURL: server.openai }).chat("m");
  const tools = { send: aiTool({ inputSchema: schema, execute }) };
  const guarded = guardAi(tools, hf, rules, { thread: "t" });
  return generateText({ model, tools: guarded, messages, stopWhen: isStepCount(2) });
};

const clientOf = ({ openai: baseURL }: ModelServer) =>
  new OpenAI({ apiKey: "x", baseURL, maxRetries: 0 });

const openai: Play = (server, hf, execute) => {
  const parameters = { type: "object" as const, properties: {} };
  const parse = (raw: string) => JSON.parse(raw) as object;
  const send = { ...about, parameters, parse, function: execute };
  const tools = guardOpenAi([{ type: "function", function: send }], hf, rules, { thread: "t" });
  const body = { model: "m", messages, tools: tools as never };
  return clientOf(server).chat.completions.runTools(body).done();
};

const loop: Play = async (server, hf, execute) => {
  const client = clientOf(server);
  const send = hf.tool({ name: "send", kind: "write", run: (_: { to: string }) => execute() });
  const completion = await client.chat.completions.create({ model: "m", messages });
  const results = await runToolCalls(completion, { send }, { thread: "t", messages });
  const said = completion.choices.map(({ message }) => message);
  const next = [...messages, ...said, ...results];
  return client.chat.completions.create({ model: "m", messages: next as never });
};

const anthropic: Play = async (server, hf, execute) => {
  const client = new Anthropic({ apiKey: "x", baseURL: server.anthropic, maxRetries: 0 });
  const send = betaZodTool({ ...about, inputSchema: schema, run: execute });
  const tools = guardAnthropic([send], hf, rules, { thread: "t", messages });
  return client.beta.messages.toolRunner({ model: "m", max_tokens: 9, messages, tools });
};

const langChain: Play = (server, hf, execute) => {
  const configuration = { baseURL: server.openai };
  const model = new ChatOpenAI({ model: "m", apiKey: "x", maxRetries: 0, configuration });
  const send = guardLangChain(langChainTool(execute, { ...about, schema }), hf, "write");
  const agent = createAgent({ model, tools: [send] });
  return agent.invoke({ messages }, { configurable: { thread_id: "t" } });
};

const agents: Play = (server, hf, execute) => {
  const definition = { ...about, parameters: schema, execute };
  const send = agentTool(guardAgent(definition, hf, "write", { scope: "s" }) as never);
  const model = new OpenAIChatCompletionsModel(clientOf(server) as never, "m");
  const agent = new Agent({ name: "clerk", instructions: "x", model, tools: [send] });
  return new Runner({ tracingDisabled: true }).run(agent, "Send");
};

const mastra: Play = (server, hf, execute) => {
  const model = createOpenAI({ apiKey: "x", baseURL: server.openai }).chat("m") as never;
  const send = createTool({ id: "send", description: "Sends.", inputSchema: schema, execute });
  const tools = guardMastra({ send }, hf, rules);
  const clerk = new MastraAgent({ id: "c", name: "c", instructions: "x", model, tools });
  return clerk.generate("Send", { memory: { thread: "t", resource: "ana" } });
};

function circle(): object {
  const one: { self?: object } = {};
  one.self = one;
  return one;
}

const RESULTS = {
  "a BigInt": () => ({ id: 10n }),
  "a circle": circle,
  "what refuses to be JSON": () => ({
    toJSON() {
      throw new Error("refused");
    },
  }),
};

describe.each<[string, Play]>([
  ["AI SDK", aiSdk],
  ["OpenAI", openai],
  ["a loop of one's own", loop],
  ["Anthropic", anthropic],
  ["LangChain", langChain],
  ["OpenAI Agents", agents],
  ["Mastra", mastra],
])("%s: a result that JSON cannot carry", (_, play) => {
  test.each(Object.entries(RESULTS))("%s is told as done", async (_name, make) => {
    const hf = openHoldfire();
    const server = await modelSaying({ tool: "send", args: { to: "ana" } });
    await play(server, hf, async () => make());
    expect(envelopes(server)).toMatchObject([{ ok: true, outcome: "committed" }]);
    expect(envelopes(server)[0]?.message).toContain("Its result is not JSON and cannot be shown.");
    expect(envelopes(server)[0]).not.toHaveProperty("data");
  });
});
