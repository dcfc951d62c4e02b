/**
 * Row: the OpenAI Agents SDK.
 *
 * @module
 */

import { Agent, OpenAIChatCompletionsModel, Runner, RunState, tool } from "@openai/agents";
import OpenAI from "openai";
import { guardTool } from "../../src/integrations/openai-agents/index.ts";
import type { Framework } from "./columns.ts";
import { runProgram, THREAD } from "./program.ts";
import { PAY, PAY_SCHEMA, type Payment, RULES, type Stage, WORDS } from "./stage.ts";

interface Chat {
  readonly words: string;
}

const runner = new Runner({ tracingDisabled: true });

/** Whose tool needs a person's yes. */
function agentOf({ hf, model, pay }: Stage): Agent<Chat> {
  const definition = {
    name: "pay",
    description: "Pays.",
    parameters: PAY_SCHEMA,
    strict: false,
    needsApproval: true,
    execute: (input: unknown, _: unknown, details?: { readonly signal?: AbortSignal }) =>
      pay(input as Payment, details?.signal),
  };
  const turn = {
    thread: THREAD,
    messages: ({ context }: { readonly context: Chat }) => context.words,
  };
  const guarded = hf ? guardTool(definition, hf, RULES, turn) : definition;
  const client = new OpenAI({ apiKey: "x", baseURL: model.openai, maxRetries: 0 });
  return new Agent<Chat>({
    name: "clerk",
    instructions: "x",
    model: new OpenAIChatCompletionsModel(client as never, "m"),
    tools: [tool(guarded as never) as never],
  });
}

/** A run that waits for a person, as it would be kept until they answer. */
async function askedOf(agent: Agent<Chat>) {
  const asked = await runner.run(agent, WORDS, { context: { words: WORDS } });
  const kept = asked.state.toString();
  return async () => {
    const state = await RunState.fromString<Chat, typeof agent>(agent, kept);
    for (const interruption of state.getInterruptions()) state.approve(interruption);
    return runner.run(agent, state);
  };
}

export const openaiAgents: Framework = {
  name: "OpenAI Agents",
  run: (stage, run) => runProgram("openai-agents", stage, run),
  ownRetry: { none: "it makes no tool call again" },
  async resume(stage) {
    stage.says(PAY, { act: "status", status: 400 });
    const approve = await askedOf(agentOf(stage));
    await approve().catch(() => {});
    await approve();
  },
  async approval(stage) {
    stage.says(PAY);
    const approve = await askedOf(agentOf(stage));
    for (const _ of [1, 2]) await approve();
  },
};
