/**
 * OpenAI: the SDK's tool runner, a lost reply, and a run that is started again. One payout.
 *
 *     npx node examples/openai.ts
 *
 * @module
 */

import { absent, committed, createHoldfire } from "holdfire";
import { memoryStore } from "holdfire/memory";
import { attemptOf, guardTools, ownRetries, type ToolRules } from "holdfire/openai";
import OpenAI from "openai";
import { zodFunction } from "openai/helpers/zod";
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

const pay = zodFunction({
  name: "pay",
  description: "Pays a payee.",
  parameters: z.object({ payee: z.string(), cents: z.number().int() }),
  function: (payout) => bank.pay(payout, attemptOf()),
});

const client = ownRetries(new OpenAI({ apiKey: "-", baseURL: model.openai }), hf);

async function answer(chatId: string, words: string): Promise<string | null> {
  const messages = [{ role: "user" as const, content: words }];
  const tools = guardTools([pay], hf, { pay: rules }, { thread: chatId });
  return client.chat.completions.runTools({ model: "m", messages, tools }).finalContent();
}

console.log(await answer("chat-7", "Pay Ana 40 euros."));
// The same request again, as after a page that was reloaded or a job that was restarted.
console.log(await answer("chat-7", "Pay Ana 40 euros."));
await end(hf);
