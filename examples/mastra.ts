/**
 * Mastra: a guarded tool, a lost reply, and a run that is started again. One payout.
 *
 *     npx node examples/mastra.ts
 *
 * `npx holdfire init --framework mastra` writes this program into your project.
 *
 * @module
 */

import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { absent, committed } from "holdfire";
import { attemptOf, guardTools, type ToolRules } from "holdfire/mastra";
import { z } from "zod";
import { bank, type Paid, type Payout } from "./bank.ts";
import { hf } from "./holdfire.config.ts";

const pay = createTool({
  id: "pay",
  description: "Pays a payee.",
  inputSchema: z.object({ payee: z.string(), cents: z.number().int() }),
  execute: async (payout) => bank.pay(payout, attemptOf()),
});

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

const clerk = new Agent({
  id: "clerk",
  name: "clerk",
  instructions: "You pay what you are told to pay.",
  model: "openai/gpt-5",
  tools: guardTools({ pay }, hf, { pay: rules }),
});

/** thread is your id of the conversation, said what persons have said in it: together the scope of a write. */
export async function answer(
  thread: string,
  said: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const { text } = await clerk.generate(
    said.map((content) => ({ role: "user" as const, content })),
    { memory: { thread, resource: "ana" }, ...(signal && { abortSignal: signal }) },
  );
  return text;
}

/** The same request twice, as after a page that was reloaded or a job that was restarted: it pays once. */
if (import.meta.main) {
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  await hf.close();
}
