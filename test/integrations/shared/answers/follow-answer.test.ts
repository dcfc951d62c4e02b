import { describe, expect, test } from "vitest";
import { followAnswer, formOf } from "../../../../src/integrations/shared/stainless/answer.ts";
import {
  chatEvents,
  messageEvents,
  responseEvents,
  USAGE,
  writeEvent,
} from "../../../servers/model-wire.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const SAYING = { text: "Hello" };
const CHAT = chatEvents(SAYING, 1, { stream_options: { include_usage: true } }).map(writeEvent);
const RESPONSE = responseEvents(SAYING, 1, {}).map(writeEvent);
const MESSAGE = messageEvents(SAYING, 1, {}).map(writeEvent);

/** An answer that has seen these, and the end of the body if it `ended`. */
function seen(events: readonly string[], ended: boolean) {
  const answer = followAnswer("events");
  for (const event of events) answer.see(bytes(event));
  if (ended) answer.end();
  return answer;
}

describe.each([
  ["chat completions", CHAT],
  ["responses", RESPONSE],
  ["messages", MESSAGE],
])("a stream of %s", (_, events) => {
  test("is whole with its last event, and not before", () => {
    for (let count = 1; count < events.length; count += 1) {
      expect(seen(events.slice(0, count), false).isWhole()).toBe(false);
    }
    const whole = seen(events, false);
    expect(whole.isGood()).toBe(true);
    expect(whole.text()).toBe(events.join(""));
    expect(whole.tokens()).toEqual({ inputTokens: USAGE.input, outputTokens: USAGE.output });
  });

  test("that ends without its last event is not whole, however cleanly it ends", () => {
    expect(seen(events.slice(0, -1), true).isWhole()).toBe(false);
  });

  test("with a failure in it is no answer, whatever comes after", () => {
    const failure = writeEvent({ event: "error", data: { type: "error", error: { type: "x" } } });
    const answer = seen([...events.slice(0, 2), failure, ...events.slice(2)], true);
    expect(answer.isGood()).toBe(false);
  });
});

test("a response that failed is no answer, one cut short by its limit is", () => {
  const [created = ""] = RESPONSE;
  const ending = (type: string) =>
    seen([created, writeEvent({ event: type, data: { type, response: {} } })], true).isGood();
  expect(ending("response.failed")).toBe(false);
  expect(ending("response.incomplete")).toBe(true);
});

test("a stream of another kind is whole when it ends", () => {
  const other = [writeEvent({ data: { type: "transcript.text.done", text: "Hello" } })];
  expect(seen(other, false).isWhole()).toBe(false);
  expect(seen(other, true).isWhole()).toBe(true);
});

test("a stream longer than is kept has no text, and its tokens are told all the same", () => {
  const long = writeEvent({ data: { type: "response.output_text.delta", delta: "x".repeat(1e6) } });
  const answer = seen([...RESPONSE.slice(0, -1), long, long, ...RESPONSE.slice(-1)], true);
  expect(answer.text()).toBeUndefined();
  expect(answer.tokens()).toEqual({ inputTokens: USAGE.input, outputTokens: USAGE.output });
});

test.each([
  ['{"status":"completed"}', true],
  ['{"status":"failed"}', false],
  ["null", false],
  ['"text"', false],
  ['{"cut off', false],
])("of JSON, %s is a good answer: %s", (text, good) => {
  const answer = followAnswer("json");
  answer.see(bytes(text));
  expect(answer.isWhole()).toBe(false);
  answer.end();
  expect(answer.isWhole()).toBe(true);
  expect(answer.isGood()).toBe(good);
});

test.each([
  ["application/json; charset=utf-8", "json"],
  ["application/problem+json", "json"],
  ["Text/Event-Stream", "events"],
  ["audio/mpeg", undefined],
])("a body of %s is read as %s", (type, form) => {
  expect(formOf(new Response("", { headers: { "content-type": type } }))).toBe(form);
});
