/**
 * AI SDK: a guarded tool, a lost reply, and a run that is started again. One payout.
 *
 *     npx node examples/ai.ts
 *
 * `npx holdfire init --framework ai` writes this program into your project.
 *
 * @module
 */

import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, tool } from "ai";
import { absent, committed } from "holdfire";
import { attemptOf, guardTools, ownRetries, type ToolRules } from "holdfire/ai";
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

/** For each request: tools often know the user, the tenant, the locale. */
function toolsFor(thread: string) {
  const balance = tool({
    description: "What is left on the account.",
    inputSchema: z.object({}),
    execute: () => bank.balance(),
  });
  const pay = tool({
    description: "Pays a payee.",
    inputSchema: z.object({ payee: z.string(), cents: z.number().int() }),
    execute: (payout, options) => bank.pay(payout, attemptOf(options)),
  });
  return guardTools({ balance, pay }, hf, { balance: "read", pay: rules }, { thread });
}

/** thread is your id of the conversation, said what persons have said in it: together the scope of a write. */
export async function answer(
  thread: string,
  said: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const { text } = await generateText({
    model: ownRetries(createOpenAI()("gpt-5"), hf),
    tools: toolsFor(thread),
    stopWhen: isStepCount(10),
    messages: said.map((content) => ({ role: "user", content })),
    ...(signal && { abortSignal: signal }),
  });
  return text;
}

/** The same request twice, as after a page that was reloaded or a job that was restarted: it pays once. */
if (import.meta.main) {
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  await hf.close();
}
