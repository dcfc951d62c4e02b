/**
 * Mastra: `guardTools` around the tools of an agent.
 *
 * @module
 */

import { code, type Template } from "../template.ts";
import { BANK, MAIN } from "./bank.ts";

export const mastra: Template = {
  name: "mastra",
  packages: ["@mastra/core"],
  needs: ["@mastra/core", "zod"],
  env: "OPENAI_API_KEY",
  example: (ending) => code`
  import { Agent } from "@mastra/core/agent";
  import { createTool } from "@mastra/core/tools";
  import { attemptOf, guardTools } from "holdfire/mastra";
  import { z } from "zod";
  import { hf } from "./holdfire.config.${ending}";

  ${BANK}

  const pay = createTool({
    id: "pay",
    description: "Pays a payee.",
    inputSchema: z.object({ payee: z.string(), cents: z.number().int() }),
    execute: async (payout) => bank.pay(payout, attemptOf()),
  });

  const clerk = new Agent({
    id: "clerk",
    name: "clerk",
    instructions: "You pay what you are told to pay.",
    model: "openai/gpt-5",
    tools: guardTools({ pay }, hf, { pay: { kind: "write", keyed: { forMs: 24 * 3_600_000 } } }),
  });

  /** thread is your id of the conversation: with what persons said in it, it is the scope of a write. */
  export async function answer(thread: string, words: string): Promise<string> {
    const { text } = await clerk.generate(words, { memory: { thread, resource: "example" } });
    return text;
  }

  ${MAIN}
  `,
};
