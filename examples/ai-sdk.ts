/**
 * AI SDK: a guarded tool, a lost reply, and a run that is started again. One payout.
 *
 *     npx node examples/ai-sdk.ts
 *
 * @module
 */

import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, type ModelMessage, tool } from "ai";
import { absent, committed, createHoldfire } from "holdfire";
import { attemptOf, guardTools, ownRetries, type ToolRules } from "holdfire/ai";
import { memoryStore } from "holdfire/memory";
import { z } from "zod";
import { type Paid, type Payout, startWorld } from "./support/world.ts";

const { bank, model, end } = await startWorld();
// Yours would be createHoldfire(): its ledger is a file, and outlives the process.
const hf = createHoldfire({ store: memoryStore() });

const pay = tool({
  description: "Pays a payee.",
  inputSchema: z.object({ payee: z.string(), cents: z.number().int() }),
  execute: (payout, options) => bank.pay(payout, attemptOf(options)),
});

const rules: ToolRules<Payout, Paid> = {
  kind: "write",
  // Asked after a lost reply, before anything is sent again.
  readState: async ({ key }) => {
    const [found] = await bank.find(key);
    return found ? committed(found) : absent();
  },
};

/** The whole conversation: what a person has said in it is what the call is done for. */
async function answer(chatId: string, messages: ModelMessage[]): Promise<string> {
  const { text } = await generateText({
    model: ownRetries(createOpenAI({ apiKey: "-", baseURL: model.openai }).chat("m"), hf),
    tools: guardTools({ pay }, hf, { pay: rules }, { thread: chatId }),
    stopWhen: isStepCount(5),
    messages,
  });
  return text;
}

const conversation: ModelMessage[] = [{ role: "user", content: "Pay Ana 40 euros." }];
console.log(await answer("chat-7", conversation));
// The same request again, as after a page that was reloaded or a job that was restarted.
console.log(await answer("chat-7", conversation));
await end(hf);
