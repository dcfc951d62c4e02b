/**
 * The agent of the demo: the AI SDK, the tools of an MCP server, and a model that is played by a local server.
 *
 * The model is stubborn, as models are: told of an error, it tries once more.
 *
 * @module
 */

import { createOpenAI } from "@ai-sdk/openai";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { dynamicTool, generateText, isStepCount, jsonSchema, type ToolSet } from "ai";
import { PAYOUT, type Scene } from "../../src/cli/demo/scene.ts";
import { type Saying, startModelServer } from "../../test/servers/model-server.ts";

const PROMPT = "Pay 40.00 to ana.";
const MOST_CALLS = 2;

/** Runs the agent on one request of a person. Returns what it says at the end. */
export async function runAgent(mcp: Client, payTool: string, scene: Scene): Promise<string> {
  const server = await startModelServer();
  server.onArrival(({ body }) => {
    const saying = nextSaying(resultsIn(body?.messages), payTool);
    if ("tool" in saying) scene.say("model", `calls ${payTool}`);
    server.script({ act: "say", saying });
  });
  try {
    const { text } = await generateText({
      model: createOpenAI({ apiKey: "-", baseURL: server.openai }).chat("scripted"),
      tools: await toolsOf(mcp),
      stopWhen: isStepCount(5),
      prompt: PROMPT,
    });
    scene.say("model", `says "${text}"`);
    return text;
  } finally {
    await server.close();
  }
}

export const DONE = "Ana is paid.";
export const IN_DOUBT = "I do not know whether ana is paid.";

function nextSaying(results: readonly string[], tool: string): Saying {
  const last = results.at(-1);
  const hasFailed = last?.includes('"isError":true') ?? false;
  if (last !== undefined && !hasFailed) return { text: DONE };
  return results.length < MOST_CALLS ? { tool, args: PAYOUT } : { text: IN_DOUBT };
}

/** What the tools have answered so far, as the model reads it. */
const resultsIn = (messages: unknown): readonly string[] =>
  (Array.isArray(messages) ? messages : [])
    .filter(({ role }) => role === "tool")
    .map(({ content }) => String(content));

/** The tools of an MCP server as those of the AI SDK. */
async function toolsOf(mcp: Client): Promise<ToolSet> {
  const { tools } = await mcp.listTools();
  const made = tools.map(({ name, description = "", inputSchema }) => {
    const execute = (args: unknown) => mcp.callTool({ name, arguments: args as typeof PAYOUT });
    return [name, dynamicTool({ description, inputSchema: jsonSchema(inputSchema), execute })];
  });
  return Object.fromEntries(made);
}
