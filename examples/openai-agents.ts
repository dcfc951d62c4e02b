/**
 * OpenAI Agents: a guarded tool, a lost reply, and a run that is started again. One payout.
 *
 *     npx node examples/openai-agents.ts
 *
 * @module
 */

import { Agent, OpenAIChatCompletionsModel, Runner, tool } from "@openai/agents";
import { absent, committed, createHoldfire } from "holdfire";
import { memoryStore } from "holdfire/memory";
import { attemptOf, guardTool, ownRetries, type ToolRules } from "holdfire/openai-agents";
import OpenAI from "openai";
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

// The SDK tells its tools nothing of the conversation: it goes into the context of the run.
interface Chat {
  readonly id: string;
  readonly words: string;
}

const pay = tool(
  guardTool(
    {
      name: "pay",
      description: "Pays a payee.",
      parameters: z.object({ payee: z.string(), cents: z.number().int() }),
      execute: (payout: Payout) => bank.pay(payout, attemptOf()),
    },
    hf,
    rules,
    { thread: ({ context }) => context.id, messages: ({ context }) => context.words },
  ),
);

const client = ownRetries(new OpenAI({ apiKey: "-", baseURL: model.openai }), hf);
const clerk = new Agent<Chat>({
  name: "clerk",
  instructions: "Do what you are asked.",
  model: new OpenAIChatCompletionsModel(client, "m"),
  tools: [pay],
});
const runner = new Runner({ tracingDisabled: true });

async function answer(id: string, words: string): Promise<string> {
  const { finalOutput } = await runner.run(clerk, words, { context: { id, words } });
  return String(finalOutput);
}

console.log(await answer("chat-7", "Pay Ana 40 euros."));
// The same request again, as after a page that was reloaded or a job that was restarted.
console.log(await answer("chat-7", "Pay Ana 40 euros."));
await end(hf);
