import { expect, test } from "vitest";
import { sseReader } from "../../../../src/integrations/shared/stainless/sse.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const BODY =
  'event: a\ndata: {"n":1}\n\n: a comment\r\ndata:two\r\ndata: lines é\r\n\r\ndata: [DONE]\n\n';
const EVENTS = ['{"n":1}', "two\nlines é", "[DONE]"];

test.each([1, 2, 3, 7, 1_000])("events are whole, cut into pieces of %i bytes", (size) => {
  const reader = sseReader();
  const all = bytes(BODY);
  const events: string[] = [];
  for (let at = 0; at < all.length; at += size)
    events.push(...reader.read(all.slice(at, at + size)));
  expect([...events, ...reader.end()]).toEqual(EVENTS);
});

test("the last event needs no empty line after it", () => {
  const reader = sseReader();
  expect(reader.read(bytes("data: a\n\ndata: b"))).toEqual(["a"]);
  expect(reader.end()).toEqual(["b"]);
});

test("an event that is longer than any should be is passed over, and the next one is read", () => {
  const reader = sseReader();
  const piece = bytes("x".repeat(100_000));
  const events = [...reader.read(bytes("data: "))];
  for (let count = 0; count < 11; count += 1) events.push(...reader.read(piece));
  events.push(...reader.read(bytes("\n\ndata: next\n\n")));
  expect(events).toEqual(["next"]);
});
