import { expect, test } from "vitest";
import { laterTokens, tokensIn } from "../../../../src/integrations/shared/stainless/answer.ts";

test.each([
  ["a chat completion", { usage: { prompt_tokens: 7, completion_tokens: 5 } }],
  ["a response", { usage: { input_tokens: 7, output_tokens: 5 } }],
  ["the last event of a response", { response: { usage: { input_tokens: 7, output_tokens: 5 } } }],
  ["the first event of a message", { message: { usage: { input_tokens: 7, output_tokens: 5 } } }],
])("tokens are found in %s", (_, value) => {
  expect(tokensIn(value)).toEqual({ inputTokens: 7, outputTokens: 5 });
});

test.each([
  null,
  "usage",
  {},
  { usage: null },
  { usage: {} },
  { usage: { input_tokens: "7", output_tokens: -1, prompt_tokens: 1.5 } },
])("nothing is made up from %j", (value) => {
  expect(tokensIn(value)).toBeUndefined();
});

test("later counts replace earlier ones, and what is not repeated stays", () => {
  const first = laterTokens(undefined, { inputTokens: 7, outputTokens: 1 });
  expect(laterTokens(first, { outputTokens: 5 })).toEqual({ inputTokens: 7, outputTokens: 5 });
});
