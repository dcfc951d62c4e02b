/**
 * OpenAI Agents: a guarded tool, a lost reply, and a run that is started again. One payout.
 *
 *     npx node examples/openai-agents.ts
 *
 * `npx holdfire init --framework openai-agents` writes this program into your project.
 *
 * @module
 */

import { Agent, OpenAIProvider, Runner, tool } from "@openai/agents";
import { absent, committed } from "holdfire";
import { attemptOf, guardTool, ownRetries, type ToolRules } from "holdfire/openai-agents";
import { z } from "zod";
import { bank, type Paid, type Payout } from "./bank.ts";
import { hf } from "./holdfire.config.ts";

const rules: ToolRules<Payout, Paid> = {
  kind: "write",
  // What makes two calls the same payout, however a model writes them.
  intent: ({ payee, cents }) => ({ payee, cents }),
  // The bank's client refreshes its OAuth token by a POST, which is no part of the payout.
  ignores: [bank.tokens],
  // Asked after a lost reply, before anything is sent again.
  readState: async ({ key }) => {
    const [found] = await bank.find(key);
    return found ? committed(found) : absent();
  },
};

/** The SDK tells its tools nothing of the conversation: it goes into the context of the run. */
interface Chat {
  /** Your id of the conversation; with what persons have said in it, it is the scope of a write. */
  readonly thread: string;
  readonly messages: readonly { readonly role: "user"; readonly content: string }[];
}

/** What the guard is told of a call. */
const turn = {
  thread: ({ context }: { readonly context: Chat }) => context.thread,
  messages: ({ context }: { readonly context: Chat }) => context.messages,
};

/** For each request: tools often know the user, the tenant, the locale. */
function agentFor(): Agent<Chat> {
  const balance = {
    name: "balance",
    description: "What is left on the account.",
    parameters: z.object({}),
    execute: () => bank.balance(),
  };
  const pay = {
    name: "pay",
    description: "Pays a payee.",
    parameters: z.object({ payee: z.string(), cents: z.number().int() }),
    execute: (payout: Payout) => bank.pay(payout, attemptOf()),
  };
  const tools = [tool(guardTool(balance, hf, "read", turn)), tool(guardTool(pay, hf, rules, turn))];
  return new Agent<Chat>({ name: "clerk", model: "gpt-5", tools });
}

export async function answer(
  thread: string,
  said: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const modelProvider = ownRetries(new OpenAIProvider(), hf);
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const messages = said.map((content) => ({ role: "user" as const, content }));
  const context = { thread, messages };
  const { finalOutput } = await runner.run(agentFor(), messages, {
    context,
    ...(signal && { signal }),
  });
  return finalOutput ?? "";
}

/** The same request twice, as after a page that was reloaded or a job that was restarted: it pays once. */
if (import.meta.main) {
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  await hf.close();
}
