/**
 * The OpenAI SDK: `guardTools` around the tools of `runTools`.
 *
 * @module
 */

import { code, type Template } from "../template.ts";
import { BANK, MAIN } from "./bank.ts";

export const openai: Template = {
  name: "openai",
  packages: ["openai"],
  needs: ["openai"],
  env: "OPENAI_API_KEY",
  example: (ending) => code`
  import { attemptOf, guardTools, ownRetries } from "holdfire/openai";
  import OpenAI from "openai";
  import { hf } from "./holdfire.config.${ending}";

  ${BANK}

  const pay = {
    type: "function" as const,
    function: {
      name: "pay",
      description: "Pays a payee.",
      parameters: {
        type: "object" as const,
        properties: { payee: { type: "string" as const }, cents: { type: "integer" as const } },
        required: ["payee", "cents"],
      },
      parse: (text: string): { payee: string; cents: number } => JSON.parse(text),
      function: (payout: { payee: string; cents: number }) => bank.pay(payout, attemptOf()),
    },
  };

  /** thread is your id of the conversation: with what persons said in it, it is the scope of a write. */
  export async function answer(thread: string, words: string): Promise<string> {
    const client = ownRetries(new OpenAI(), hf);
    const rules = { pay: { kind: "write", keyed: { forMs: 24 * 3_600_000 } } } as const;
    const tools = guardTools([pay], hf, rules, { thread });
    const messages = [{ role: "user" as const, content: words }];
    const runner = client.chat.completions.runTools({ model: "gpt-5", messages, tools });
    return (await runner.finalContent()) ?? "";
  }

  ${MAIN}
  `,
};
