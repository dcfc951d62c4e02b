/**
 * The AI SDK: `guardTools` around the tools of `generateText`.
 *
 * @module
 */

import { code, type Template } from "../template.ts";
import { BANK, MAIN } from "./bank.ts";

export const ai: Template = {
  name: "ai",
  packages: ["ai"],
  needs: ["ai", "@ai-sdk/openai", "zod"],
  env: "OPENAI_API_KEY",
  example: (ending) => code`
  import { openai } from "@ai-sdk/openai";
  import { generateText, isStepCount, tool } from "ai";
  import { attemptOf, guardTools, ownRetries } from "holdfire/ai";
  import { z } from "zod";
  import { hf } from "./holdfire.config.${ending}";

  ${BANK}

  const pay = tool({
    description: "Pays a payee.",
    inputSchema: z.object({ payee: z.string(), cents: z.number().int() }),
    execute: (payout, options) => bank.pay(payout, attemptOf(options)),
  });

  /** thread is your id of the conversation: with what persons said in it, it is the scope of a write. */
  export async function answer(thread: string, prompt: string): Promise<string> {
    const rules = { pay: { kind: "write", keyed: { forMs: 24 * 3_600_000 } } } as const;
    const { text } = await generateText({
      model: ownRetries(openai("gpt-5"), hf),
      tools: guardTools({ pay }, hf, rules, { thread }),
      stopWhen: isStepCount(10),
      prompt,
    });
    return text;
  }

  ${MAIN}
  `,
};
