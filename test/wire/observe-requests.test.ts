import { channel } from "node:diagnostics_channel";
import { describe, expect, it } from "vitest";
import { observeRequests } from "../../src/wire/observe-requests.ts";
import { createToken, wireFacts } from "../../src/wire/token.ts";
import { attempt, startService } from "./servers.ts";

const CHANNELS = [
  "undici:request:create",
  "undici:client:sendHeaders",
  "undici:request:headers",
  "undici:request:bodyChunkReceived",
  "undici:request:trailers",
  "undici:request:error",
  "http.client.request.created",
  "http.client.response.finish",
  "http.client.request.error",
  "http2.client.stream.created",
  "http2.client.stream.start",
  "http2.client.stream.finish",
  "http2.client.stream.error",
];

const hostile = new Proxy(
  {},
  {
    get() {
      throw new Error("hostile");
    },
  },
);

describe("observing", () => {
  it("listens once, however many tokens there are", async () => {
    const service = await startService((_, response) => response.end());
    for (let i = 0; i < 10; i += 1) createToken({ operationId: "o", attempt: i });
    const strangers = {
      current: () => undefined,
      call: () => undefined,
      carried: () => expect.unreachable(),
      enter: () => expect.unreachable(),
    };
    observeRequests(strangers);
    const { token } = await attempt(() => fetch(service.url));
    expect(wireFacts(token).wireRequests).toBe(1);
  });

  // A subscriber that throws would end the process: the runner fails on the uncaught error.
  it.each(CHANNELS)("survives nonsense on %s", async (name) => {
    createToken({ operationId: "o", attempt: 1 });
    expect(channel(name).hasSubscribers).toBe(true);
    const { token } = await attempt(async () => {
      for (const message of [
        null,
        undefined,
        "text",
        {},
        hostile,
        { request: hostile, stream: hostile },
      ]) {
        channel(name).publish(message);
      }
      await new Promise(setImmediate);
    });
    expect(wireFacts(token)).toEqual({ wireRequests: 0, hops: 0, unsent: false });
  });
});
