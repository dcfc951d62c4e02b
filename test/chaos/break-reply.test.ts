import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Fault } from "../../src/chaos/orders.ts";
import { breakReply } from "../../src/chaos/watch/break-reply.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const WHOLE = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\npaid";
const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npaid\r\n0\r\n\r\n";
const EVENTS = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/** What the client has got of a reply that came in these pieces; "end" is the end of the connection. */
function receiving(fault: Fault) {
  const got: string[] = [];
  const reply = breakReply(
    { fault, slowMs: 1_000, broken: () => got.push("broken") },
    {
      push: (bytes) => got.push(bytes === null ? "end" : String(bytes)) > 0,
      reset: () => got.push("reset"),
    },
  );
  const take = (...pieces: readonly string[]) => {
    for (const piece of pieces) reply.take(piece === "end" ? null : Buffer.from(piece));
    return got;
  };
  return { got, take };
}

test.each([
  ["with a length", WHOLE],
  ["in chunks", CHUNKED],
])("it is broken only when it is whole: %s", (_, text) => {
  const { got, take } = receiving("reset");
  take(...text.slice(0, -1));
  expect(got).toEqual([]);
  expect(take(text.slice(-1))).toEqual(["broken", "reset"]);
});

test("one without an end is whole when nothing more comes", () => {
  const { got, take } = receiving("reset");
  take(EVENTS, "data: 1\n\n");
  vi.advanceTimersByTime(4_999);
  take("data: 2\n\n");
  vi.advanceTimersByTime(4_999);
  expect(got).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(got).toEqual(["broken", "reset"]);
});

test("one that ends with its connection is whole then", () => {
  expect(receiving("reset").take("HTTP/1.1 200 OK\r\n\r\npaid", "end")).toEqual([
    "broken",
    "reset",
  ]);
});

test("a connection that ends before a reply is not broken by us", () => {
  expect(receiving("reset").take("end")).toEqual(["end"]);
});

test('"100 Continue" is no reply', () => {
  const { take } = receiving("reset");
  expect(take("HTTP/1.1 100 Continue\r\n\r\n")).toEqual(["HTTP/1.1 100 Continue\r\n\r\n"]);
  expect(take(WHOLE).slice(1)).toEqual(["broken", "reset"]);
});

test("lose-reply: nothing comes any more", () => {
  const { got, take } = receiving("lose-reply");
  take(WHOLE, "end");
  vi.advanceTimersByTime(100_000);
  expect(got).toEqual(["broken"]);
});

test("slow: all of it comes, later", () => {
  const { got, take } = receiving("slow");
  take(WHOLE, "end");
  vi.advanceTimersByTime(999);
  expect(got).toEqual(["broken"]);
  vi.advanceTimersByTime(1);
  expect(got).toEqual(["broken", WHOLE, "end"]);
});

test("truncate: half of the body comes, then a reset", () => {
  const { got, take } = receiving("truncate");
  take(WHOLE);
  vi.runAllTimers();
  expect(got).toEqual(["broken", WHOLE.slice(0, -2), "reset"]);
});

test("a status takes the place of the reply", () => {
  const [, reply, end] = receiving("status-503").take(WHOLE);
  expect(reply).toBe(
    "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
  );
  expect(end).toBe("end");
});
