/**
 * Anthropic: a bank that knows keys, a lost reply, and a run that is started again. One payout.
 *
 *     npx node examples/anthropic.ts
 *
 * @module
 */

import Anthropic from "@anthropic-ai/sdk";
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { createHoldfire } from "holdfire";
import { attemptOf, guardTools, ownRetries } from "holdfire/anthropic";
import { memoryStore } from "holdfire/memory";
import { z } from "zod";
import { startWorld } from "./support/world.ts";

const { bank, model, end } = await startWorld({ keyed: true });
// Yours would be createHoldfire(): its ledger is a file, and outlives the process.
const hf = createHoldfire({ store: memoryStore() });

const pay = betaZodTool({
  name: "pay",
  description: "Pays a payee.",
  inputSchema: z.object({ payee: z.string(), cents: z.number().int() }),
  run: async (payout) => JSON.stringify(await bank.pay(payout, attemptOf())),
});

// This bank pays once per key, for a day. So a lost reply may be asked for again, with the same key.
const rules = { pay: { kind: "write", keyed: { forMs: 24 * 3_600_000 } } } as const;

const client = ownRetries(new Anthropic({ apiKey: "-", baseURL: model.anthropic }), hf);

async function answer(chatId: string, words: string): Promise<string> {
  const messages = [{ role: "user" as const, content: words }];
  const last = await client.beta.messages.toolRunner({
    model: "m",
    max_tokens: 1_024,
    messages,
    // The runner tells its tools nothing of the conversation, so they are told here.
    tools: guardTools([pay], hf, rules, { thread: chatId, messages }),
  });
  return last.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

console.log(await answer("chat-7", "Pay Ana 40 euros."));
// The same request again, as after a page that was reloaded or a job that was restarted.
console.log(await answer("chat-7", "Pay Ana 40 euros."));
await end(hf);
