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
import { absent, committed } from "holdfire";
import { attemptOf, guardTool, ownRetries, type ToolRules } from "holdfire/langchain";
import { HumanMessage, tool } from "langchain";
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

const pay = guardTool(
  tool((payout: Payout) => bank.pay(payout, attemptOf()), {
    name: "pay",
    description: "Pays a payee.",
    schema: z.object({ payee: z.string(), cents: z.number().int() }),
  }),
  hf,
  rules,
);

const chat = ownRetries(new ChatOpenAI({ model: "gpt-5" }), hf);
const withTools = chat.bindTools([pay]);
const graph = new StateGraph(MessagesAnnotation)
  .addNode("agent", async ({ messages }) => ({ messages: [await withTools.invoke(messages)] }))
  .addNode("tools", new ToolNode([pay]))
  .addEdge(START, "agent")
  .addConditionalEdges("agent", toolsCondition, ["tools", END])
  .addEdge("tools", "agent")
  .compile();

/** thread is your id of the conversation, said what persons have said in it: together the scope of a write. */
export async function answer(
  thread: string,
  said: readonly string[],
  signal?: AbortSignal,
): Promise<string> {
  const state = await graph.invoke(
    { messages: said.map((words) => new HumanMessage(words)) },
    { configurable: { thread_id: thread }, ...(signal && { signal }) },
  );
  return String(state.messages.at(-1)?.content);
}

/** The same request twice, as after a page that was reloaded or a job that was restarted: it pays once. */
if (import.meta.main) {
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  console.log(await answer("chat-7", ["Pay Ana 40 euros."]));
  await hf.close();
}
