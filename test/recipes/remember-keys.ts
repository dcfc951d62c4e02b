/**
 * What a service does that knows idempotency keys: the first request is done, and a repeated one gets the first answer.
 *
 * @module
 */

import type { FakeAnswer, FakeRequest } from "./fake-service.ts";

export interface KeyManners {
  readonly keyOf: (request: FakeRequest) => string;
  readonly make: (request: FakeRequest, key: string) => FakeAnswer;
  /** The answer to a known key with another body. */
  readonly mismatch: FakeAnswer;
  /** Which answers are kept. @default all */
  readonly keeps?: (answer: FakeAnswer) => boolean;
  /** How a kept answer is given again. @default as it was */
  readonly again?: (answer: FakeAnswer) => FakeAnswer;
}

export function rememberKeys({
  keyOf,
  make,
  mismatch,
  keeps = () => true,
  again = (answer) => answer,
}: KeyManners): (request: FakeRequest) => FakeAnswer {
  const known = new Map<string, { readonly text: string; readonly answer: FakeAnswer }>();
  return (request) => {
    const key = keyOf(request);
    if (key === "" || key === "undefined") return { status: 400, body: { message: "no key" } };
    const before = known.get(key);
    if (before) return before.text === request.text ? again(before.answer) : mismatch;
    const answer = make(request, key);
    if (keeps(answer)) known.set(key, { text: request.text, answer });
    return answer;
  };
}
