/**
 * OpenAI: a guarded tool, a lost reply, and a run that is started again. One payout.
 *
 *     npx node examples/openai.ts
 *
 * `npx holdfire init --framework openai` writes this program into your project.
 *
 * @module
 */

import { absent, committed } from "holdfire";
import { attemptOf, guardTools, ownRetries, type ToolRules } from "holdfire/openai";
import OpenAI from "openai";
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
  const balance = {
    type: "function" as const,
    function: {
      name: "balance",
      description: "What is left on the account.",
      parameters: { type: "object" as const, properties: {} },
      parse: (text: string): object => JSON.parse(text),
      function: () => bank.balance(),
    },
  };
  const pay = {
    type: "function" as const,
    function: {
      name: "pay",
      description: "Pays a payee.",
      parameters: {
        type: "object" as const,
        properties: { payee: { type: "string" as const }, cents: { type: "integer" as const } },
        required: ["payee", "cents"],
      },
      parse: (text: string): Payout => JSON.parse(text),
      function: (payout: Payout) => bank.pay(payout, attemptOf()),
    },
  };
  return guardTools([balance, pay], hf, { balance: "read", pay: rules }, { thread });
}

/** thread is your id of the conversation, said what persons have said in it: together the scope of a write. */
export async function answer(
  thread: string,
  said: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const client = ownRetries(new OpenAI(), hf);
  const messages = said.map((content) => ({ role: "user" as const, content }));
  const tools = toolsFor(thread);
  const runner = client.chat.completions.runTools(
    { model: "gpt-5", messages, tools },
    signal && { signal },
  );
  return (await runner.finalContent()) ?? "";
}

/** The same request twice, as after a page that was reloaded or a job that was restarted: it pays once. */
if (import.meta.main) {
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  await hf.close();
}
