/**
 * LangGraph: a tool node, a lost reply, and a run that is started again. One payout.
 *
 *     npx node examples/langgraph.ts
 *
 * @module
 */

import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { ChatOpenAI } from "@langchain/openai";
import { absent, committed, createHoldfire } from "holdfire";
import { attemptOf, guardTool, ownRetries, type ToolRules } from "holdfire/langchain";
import { memoryStore } from "holdfire/memory";
import { HumanMessage, tool } from "langchain";
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

const pay = guardTool(
  tool((payout: Payout) => bank.pay(payout, attemptOf()), {
    name: "pay",
    description: "Pays a payee.",
    schema: z.object({ payee: z.string(), cents: z.number().int() }),
  }),
  hf,
  rules,
);

const configuration = { baseURL: model.openai };
const chat = ownRetries(new ChatOpenAI({ model: "m", apiKey: "-", configuration }), hf);
const withTools = chat.bindTools([pay]);
const graph = new StateGraph(MessagesAnnotation)
  .addNode("agent", async ({ messages }) => ({ messages: [await withTools.invoke(messages)] }))
  .addNode("tools", new ToolNode([pay]))
  .addEdge(START, "agent")
  .addConditionalEdges("agent", toolsCondition, ["tools", END])
  .addEdge("tools", "agent")
  .compile();

async function answer(chatId: string, words: string): Promise<string> {
  const messages = [new HumanMessage(words)];
  // The thread and the person's words make the scope.
  const state = await graph.invoke({ messages }, { configurable: { thread_id: chatId } });
  return String(state.messages.at(-1)?.content);
}

console.log(await answer("chat-7", "Pay Ana 40 euros."));
// The same request again, as after a page that was reloaded or a job that was restarted.
console.log(await answer("chat-7", "Pay Ana 40 euros."));
await end(hf);
