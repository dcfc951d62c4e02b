/**
 * The Anthropic SDK: `guardTools` around the tools of its tool runner.
 *
 * @module
 */

import { code, type Template } from "../template.ts";
import { BANK, MAIN } from "./bank.ts";

export const anthropic: Template = {
  name: "anthropic",
  packages: ["@anthropic-ai/sdk"],
  needs: ["@anthropic-ai/sdk", "zod"],
  env: "ANTHROPIC_API_KEY",
  example: (ending) => code`
  import Anthropic from "@anthropic-ai/sdk";
  import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
  import { attemptOf, guardTools, ownRetries } from "holdfire/anthropic";
  import { z } from "zod";
  import { hf } from "./holdfire.config.${ending}";

  ${BANK}

  const pay = betaZodTool({
    name: "pay",
    description: "Pays a payee.",
    inputSchema: z.object({ payee: z.string(), cents: z.number().int() }),
    run: async (payout, context) => JSON.stringify(await bank.pay(payout, attemptOf(context))),
  });

  /** thread is your id of the conversation: with what persons said in it, it is the scope of a write. */
  export async function answer(thread: string, words: string): Promise<string> {
    const client = ownRetries(new Anthropic(), hf);
    const messages = [{ role: "user" as const, content: words }];
    const rules = { pay: { kind: "write", keyed: { forMs: 24 * 3_600_000 } } } as const;
    const message = await client.beta.messages.toolRunner({
      model: "claude-sonnet-4-5",
      max_tokens: 1_024,
      messages,
      tools: guardTools([pay], hf, rules, { thread, messages }),
    });
    return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  }

  ${MAIN}
  `,
};
