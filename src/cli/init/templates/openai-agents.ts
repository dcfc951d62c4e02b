/**
 * The agents SDK of OpenAI: `guardTool` around what `tool()` is given.
 *
 * @module
 */

import { code, type Template } from "../template.ts";
import { BANK, MAIN } from "./bank.ts";

export const openaiAgents: Template = {
  name: "openai-agents",
  packages: ["@openai/agents"],
  needs: ["@openai/agents", "zod"],
  env: "OPENAI_API_KEY",
  example: (ending) => code`
  import { Agent, OpenAIProvider, Runner, tool } from "@openai/agents";
  import { attemptOf, guardTool, ownRetries } from "holdfire/openai-agents";
  import { z } from "zod";
  import { hf } from "./holdfire.config.${ending}";

  ${BANK}

  interface Request {
    /** Your id of the conversation: with what persons said in it, it is the scope of a write. */
    readonly thread: string;
    readonly words: string;
  }

  const pay = tool(
    guardTool(
      {
        name: "pay",
        description: "Pays a payee.",
        parameters: z.object({ payee: z.string(), cents: z.number().int() }),
        execute: (payout: { payee: string; cents: number }) => bank.pay(payout, attemptOf()),
      },
      hf,
      { kind: "write", keyed: { forMs: 24 * 3_600_000 } },
      { thread: ({ context }) => context.thread, messages: ({ context }) => context.words },
    ),
  );

  const clerk = new Agent<Request>({ name: "clerk", model: "gpt-5", tools: [pay] });

  export async function answer(thread: string, words: string): Promise<string> {
    const runner = new Runner({ modelProvider: ownRetries(new OpenAIProvider(), hf) });
    const { finalOutput } = await runner.run(clerk, words, { context: { thread, words } });
    return finalOutput ?? "";
  }

  ${MAIN}
  `,
};
