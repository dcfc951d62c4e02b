/**
 * Anthropic: a guarded tool, a lost reply, and a run that is started again. One payout.
 *
 *     npx node examples/anthropic.ts
 *
 * `npx holdfire init --framework anthropic` writes this program into your project.
 *
 * @module
 */

import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { absent, committed } from "holdfire";
import { attemptOf, guardTools, ownRetries, type ToolRules } from "holdfire/anthropic";
import { z } from "zod";
import { bank, type Payout } from "./bank.ts";
import { hf } from "./holdfire.config.ts";

const rules: ToolRules<Payout, string> = {
  kind: "write",
  // What makes two calls the same payout, however a model writes them.
  intent: ({ payee, cents }) => ({ payee, cents }),
  // The bank's client refreshes its OAuth token by a POST, which is no part of the payout.
  ignores: [bank.tokens],
  // Asked after a lost reply, before anything is sent again.
  readState: async ({ key }) => {
    const [found] = await bank.find(key);
    return found ? committed(JSON.stringify(found)) : absent();
  },
};

type Messages = Anthropic.Beta.BetaMessageParam[];

/** For each request: tools often know the user, the tenant, the locale. */
function toolsFor(thread: string, messages: Messages) {
  const balance = betaZodTool({
    name: "balance",
    description: "What is left on the account.",
    inputSchema: z.object({}),
    run: async () => JSON.stringify(await bank.balance()),
  });
  const pay = betaZodTool({
    name: "pay",
    description: "Pays a payee.",
    inputSchema: z.object({ payee: z.string(), cents: z.number().int() }),
    run: async (payout, context) => JSON.stringify(await bank.pay(payout, attemptOf(context))),
  });
  // The runner tells its tools nothing of the conversation, so they are told here.
  return guardTools([balance, pay], hf, { balance: "read", pay: rules }, { thread, messages });
}

/** thread is your id of the conversation, said what persons have said in it: together the scope of a write. */
export async function answer(
  thread: string,
  said: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const client = ownRetries(new Anthropic(), hf);
  const messages: Messages = said.map((content) => ({ role: "user", content }));
  const tools = toolsFor(thread, messages);
  const runner = client.beta.messages.toolRunner(
    { model: "claude-sonnet-5-5", max_tokens: 1_024, messages, tools, stream: true },
    signal && { signal },
  );
  let last: Anthropic.Beta.BetaMessage | undefined;
  for await (const stream of runner) last = await stream.finalMessage();
  return last?.content.map((block) => (block.type === "text" ? block.text : "")).join("") ?? "";
}

/** The same request twice, as after a page that was reloaded or a job that was restarted: it pays once. */
if (import.meta.main) {
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  await hf.close();
}
