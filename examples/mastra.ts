/**
 * Mastra: a guarded tool, a lost reply, and a run that is started again. One payout.
 *
 *     npx node examples/mastra.ts
 *
 * @module
 */

import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { absent, committed, createHoldfire } from "holdfire";
import { attemptOf, guardTools, type ToolRules } from "holdfire/mastra";
import { memoryStore } from "holdfire/memory";
import { z } from "zod";
import { type Paid, type Payout, startWorld } from "./support/world.ts";

const { bank, model, end } = await startWorld();
// Yours would be createHoldfire(): its ledger is a file, and outlives the process.
const hf = createHoldfire({ store: memoryStore() });

const rules: ToolRules<Payout, Paid> = {
  kind: "write",
  // Asked after a lost reply, before anything is sent again.
  readState: async ({ key }) => {
    const [found] = await bank.find(key);
    return found ? committed(found) : absent();
  },
};

const pay = createTool({
  id: "pay",
  description: "Pays a payee.",
  inputSchema: z.object({ payee: z.string(), cents: z.number().int() }),
  execute: (payout) => bank.pay(payout, attemptOf()),
});

const clerk = new Agent({
  id: "clerk",
  name: "clerk",
  instructions: "Do what you are asked.",
  model: { id: "local/m", url: model.openai, apiKey: "-" },
  tools: guardTools({ pay }, hf, { pay: rules }),
});

async function answer(chatId: string, words: string): Promise<string> {
  // The thread and the person's words make the scope.
  const { text } = await clerk.generate(words, { memory: { thread: chatId, resource: "ana" } });
  return text;
}

console.log(await answer("chat-7", "Pay Ana 40 euros."));
// The same request again, as after a page that was reloaded or a job that was restarted.
console.log(await answer("chat-7", "Pay Ana 40 euros."));
await end(hf);
