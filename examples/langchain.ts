/**
 * LangChain: a guarded tool, a lost reply, and a run that is started again. One payout.
 *
 *     npx node examples/langchain.ts
 *
 * `npx holdfire init --framework langchain` writes this program into your project.
 *
 * @module
 */

import { MemorySaver } from "@langchain/langgraph";
import { ChatOpenAI } from "@langchain/openai";
import { absent, committed } from "holdfire";
import { attemptOf, guardTools, ownRetries, type ToolRules } from "holdfire/langchain";
import { createAgent, HumanMessage, tool } from "langchain";
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

/** Keeps the conversations. Yours is a database, and outlives the process. */
const checkpointer = new MemorySaver();

/** For each request: tools often know the user, the tenant, the locale. */
function agentFor() {
  const balance = tool(async () => bank.balance(), {
    name: "balance",
    description: "What is left on the account.",
    schema: z.object({}),
  });
  const pay = tool(async (payout) => bank.pay(payout, attemptOf()), {
    name: "pay",
    description: "Pays a payee.",
    schema: z.object({ payee: z.string(), cents: z.number().int() }),
  });
  return createAgent({
    model: ownRetries(new ChatOpenAI({ model: "gpt-5" }), hf),
    tools: guardTools([balance, pay], hf, { balance: "read", pay: rules }),
    checkpointer,
  });
}

/** thread is your id of the conversation, said what persons have said in it: together the scope of a write. */
export async function answer(
  thread: string,
  said: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  // What has the same id is in the conversation once, also if it is sent again.
  const words = said.map((content, n) => new HumanMessage({ content, id: `${thread}/${n}` }));
  const { messages } = await agentFor().invoke(
    { messages: words },
    { configurable: { thread_id: thread }, ...(signal && { signal }) },
  );
  return messages.at(-1)?.text ?? "";
}

/** The same request twice, as after a page that was reloaded or a job that was restarted: it pays once. */
if (import.meta.main) {
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  await hf.close();
}
