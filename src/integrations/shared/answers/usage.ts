/**
 * What an answer says it cost, in the words of either provider.
 *
 * @module
 */

import { peek } from "../../../lang/peek.ts";

/** Tokens, as far as the provider told. */
export interface Tokens {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}

/**
 * The usage in an answer or in one event of a stream. In a stream it stands beside the delta (chat
 * completions, `message_delta`) or inside what the event is about (`response.completed`,
 * `message_start`).
 */
export function tokensIn(value: unknown): Tokens | undefined {
  const usage = [value, peek(value, "message"), peek(value, "response")]
    .map((holder) => peek(holder, "usage"))
    .find((found) => typeof found === "object" && found !== null);
  if (usage === undefined) return undefined;
  const inputTokens = count(usage, "input_tokens") ?? count(usage, "prompt_tokens");
  const outputTokens = count(usage, "output_tokens") ?? count(usage, "completion_tokens");
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return { inputTokens, outputTokens };
}

/** Later counts replace earlier ones: providers send running totals. */
export const laterTokens = (before: Tokens | undefined, now: Tokens): Tokens => ({
  inputTokens: now.inputTokens ?? before?.inputTokens,
  outputTokens: now.outputTokens ?? before?.outputTokens,
});

function count(usage: unknown, name: string): number | undefined {
  const value = peek(usage, name);
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}
