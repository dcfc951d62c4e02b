import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import {
  bufferResponse as buffer,
  isStreamed,
  reviveResponse,
} from "../../src/engine/outcome/response.ts";

const bufferResponse = (response: Response, maxBytes = 65_536) => buffer(response, { maxBytes });

describe("a Response", () => {
  test("is read whole, kept, and can still be read by the caller", async () => {
    const { response, kept } = await bufferResponse(
      Response.json({ id: 1 }, { status: 201, headers: { etag: '"7"' } }),
    );
    expect(kept).toEqual({
      status: 201,
      contentType: "application/json",
      body: '{"id":1}',
      encoding: "utf8",
    });
    expect(response.status).toBe(201);
    expect(response.headers.get("etag")).toBe('"7"');
    expect(await response.json()).toEqual({ id: 1 });
  });

  test("comes back as a new one: status, content type and body", async () => {
    const { kept } = await bufferResponse(Response.json({ id: 1 }, { status: 201 }));
    const revived = reviveResponse(kept);
    expect(revived.status).toBe(201);
    expect(revived.headers.get("content-type")).toBe("application/json");
    expect(await revived.json()).toEqual({ id: 1 });
  });

  test("whose bytes are no text keeps its bytes", async () => {
    const bytes = Uint8Array.from([0, 255, 254, 128, 10]);
    const { kept } = await bufferResponse(new Response(bytes));
    expect(kept?.encoding).toBe("base64");
    expect(new Uint8Array(await reviveResponse(kept).arrayBuffer())).toEqual(bytes);
  });

  test.each([204, 205, 304])("of %i has no body and comes back without one", async (status) => {
    const { response, kept } = await bufferResponse(new Response(null, { status }));
    expect(response.status).toBe(status);
    expect(reviveResponse(kept)).toMatchObject({ status, body: null });
  });

  test("of a polyfill, whose body is a stream of Node's, is kept like any other", async () => {
    const body = Readable.from([Buffer.from('{"id"'), Buffer.from(":1}")]);
    const headers = new Map([["content-type", "application/json"]]);
    const polyfill = { status: 201, statusText: "", headers, body, bodyUsed: false };
    const { response, kept } = await bufferResponse(polyfill as unknown as Response);
    expect(kept).toMatchObject({ status: 201, contentType: "application/json", body: '{"id":1}' });
    expect(await response.json()).toEqual({ id: 1 });
  });

  test("made by hand, with a body that nothing can read, keeps its status", async () => {
    const headers = { get: () => null };
    const mock = { status: 201, statusText: "", headers, body: 7, bodyUsed: false };
    const { response, kept } = await bufferResponse(mock as unknown as Response);
    expect([response.status, kept]).toEqual([201, undefined]);
  });

  test("whose body breaks off keeps its status, and nothing else", async () => {
    const broken = new ReadableStream({
      pull(controller) {
        controller.error(new TypeError("terminated"));
      },
    });
    const { response, kept } = await bufferResponse(new Response(broken, { status: 201 }));
    expect(kept).toBeUndefined();
    expect(response.status).toBe(201);
    expect(await response.text()).toBe("");
  });

  test("that was read already keeps its status", async () => {
    const read = Response.json({ id: 1 });
    await read.json();
    const { response, kept } = await bufferResponse(read);
    expect(kept).toBeUndefined();
    expect(response.ok).toBe(true);
  });

  test("that is too large is not read on: the caller gets all of it, as it comes", async () => {
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(1_000).fill(sent));
      },
    });
    const { response, kept, isUnread } = await bufferResponse(new Response(endless), 2_500);
    expect({ kept, isUnread }).toEqual({ kept: undefined, isUnread: true });
    expect(sent).toBeLessThan(6);
    const reader = response.body?.getReader();
    for (const nth of [1, 2, 3, 4, 5]) expect((await reader?.read())?.value?.[0]).toBe(nth);
    await reader?.cancel();
    expect(sent).toBeLessThan(9);
  });

  test("that trickles is not read on when the attempt is over", async () => {
    let isCancelled = false;
    const trickle = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(1)),
      cancel() {
        isCancelled = true;
      },
    });
    const stop = new AbortController();
    const limits = { maxBytes: 100, signal: stop.signal };
    const buffered = buffer(new Response(trickle, { status: 201 }), limits);
    stop.abort();
    expect(await buffered).toMatchObject({ kept: undefined, response: { status: 201 } });
    expect(isCancelled).toBe(true);
  });

  /** A body of so many bytes, in chunks of a thousand. */
  const bodyOf = (chunks: number, cancel: (reason: unknown) => void = () => {}) => {
    let sent = 0;
    return new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 1;
        if (sent > chunks) controller.close();
        else controller.enqueue(new Uint8Array(1_000).fill(sent));
      },
      cancel,
    });
  };

  test("that is too large has an end all the same, and every byte before it", async () => {
    const { response, isUnread } = await bufferResponse(new Response(bodyOf(5)), 2_500);
    expect(isUnread).toBe(true);
    expect(isStreamed(response)).toBe(true);
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(bytes).toHaveLength(5_000);
    expect([0, 1_000, 2_000, 3_000, 4_000].map((at) => bytes[at])).toEqual([1, 2, 3, 4, 5]);
  });

  test("of exactly the most that is kept is kept, one byte more is not", async () => {
    const { response, kept } = await bufferResponse(new Response(bodyOf(2)), 2_000);
    expect(kept?.body).toHaveLength(2_000);
    expect(isStreamed(response)).toBe(false);
    expect((await bufferResponse(new Response(bodyOf(2)), 1_999)).kept).toBeUndefined();
  });

  test("that its reader does not want any more is told to its source", async () => {
    const reasons: unknown[] = [];
    const body = bodyOf(50, (reason) => reasons.push(reason));
    const { response } = await bufferResponse(new Response(body), 2_500);
    await response.body?.cancel("enough");
    expect(reasons).toEqual(["enough"]);
  });

  test("that comes too slowly is handed over as far as it has come, and goes on from there", async () => {
    let send = (_: number) => {};
    const slow = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(Uint8Array.from([1]));
        send = (byte) => {
          controller.enqueue(Uint8Array.from([byte]));
          if (byte === 3) controller.close();
        };
      },
    });
    const enough = new AbortController();
    const limits = { maxBytes: 100, enough: enough.signal };
    const buffering = buffer(new Response(slow, { status: 202 }), limits);
    enough.abort();
    const { response, kept, isUnread } = await buffering;
    expect({ status: response.status, kept, isUnread }).toEqual({
      status: 202,
      kept: undefined,
      isUnread: true,
    });
    send(2);
    send(3);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(Uint8Array.from([1, 2, 3]));
  });
});
