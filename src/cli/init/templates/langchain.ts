/**
 * LangChain and LangGraph: `guardTools` around the tools of an agent.
 *
 * @module
 */

import { code, type Template } from "../template.ts";
import { BANK, MAIN } from "./bank.ts";

export const langchain: Template = {
  name: "langchain",
  packages: ["langchain", "@langchain/langgraph", "@langchain/core"],
  needs: ["langchain", "@langchain/core", "@langchain/openai", "zod"],
  env: "OPENAI_API_KEY",
  example: (ending) => code`
  import { ChatOpenAI } from "@langchain/openai";
  import { attemptOf, guardTools, ownRetries } from "holdfire/langchain";
  import { createAgent, tool } from "langchain";
  import { z } from "zod";
  import { hf } from "./holdfire.config.${ending}";

  ${BANK}

  const pay = tool(async (payout) => bank.pay(payout, attemptOf()), {
    name: "pay",
    description: "Pays a payee.",
    schema: z.object({ payee: z.string(), cents: z.number().int() }),
  });

  const agent = createAgent({
    model: ownRetries(new ChatOpenAI({ model: "gpt-5" }), hf),
    tools: guardTools([pay], hf, { pay: { kind: "write", keyed: { forMs: 24 * 3_600_000 } } }),
  });

  /** thread is your id of the conversation: with what persons said in it, it is the scope of a write. */
  export async function answer(thread: string, words: string): Promise<string> {
    const { messages } = await agent.invoke(
      { messages: [{ role: "user", content: words }] },
      { configurable: { thread_id: thread } },
    );
    return messages.at(-1)?.text ?? "";
  }

  ${MAIN}
  `,
};
