/** Reads of the guarded fetch: retried by holdfire alone; and what a signal stops. */
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { closedPort } from "../../../src/testing/faulty-service.ts";
import { until } from "../../engine/virtual-clock.ts";
import { json } from "../../servers/counting-server.ts";
import { heard, openHoldfire } from "../shared/owning.ts";
import { created, inTurn, keyed, openFetch, post, reset, status } from "./stage.ts";

describe.each(["GET", "HEAD", "OPTIONS"])("%s", (method) => {
  it("needs no scope, is tried again, and leaves no record", async () => {
    const { fetch, server, hf } = await openFetch(inTurn(reset, status(503), status(200)));
    expect((await fetch(server.url, { method })).status).toBe(200);
    expect(server.arrivals.map((arrival) => arrival.method)).toEqual([method, method, method]);
    expect(server.arrivals[0]?.headers).not.toHaveProperty("idempotency-key");
    expect((await hf.operations.list()).items).toEqual([]);
  });
});

describe("a read", () => {
  it("that goes on failing gives its last answer, which asks not to be retried", async () => {
    const { fetch, server } = await openFetch(status(503, { "retry-after": "0" }, "busy"));
    const response = await fetch(server.url);
    expect([response.status, await response.text()]).toEqual([503, "busy"]);
    expect(response.headers.get("x-should-retry")).toBe("false");
    expect(response.url).toBe(`${server.url}/`);
    expect(server.arrivals).toHaveLength(4);
  });

  it("of an SDK is not tried again by the SDK", async () => {
    const { fetch, server } = await openFetch(status(503), { attempts: 2 });
    const client = new OpenAI({ apiKey: "x", baseURL: server.url, fetch, maxRetries: 3 });
    await expect(client.models.list()).rejects.toMatchObject({ status: 503 });
    expect(server.arrivals).toHaveLength(2);
  });

  it("that is rejected is returned at once, as it came", async () => {
    const { fetch, server } = await openFetch(status(404, { "x-a": "b" }, "none"));
    const response = await fetch(server.url);
    expect([response.status, response.headers.get("x-a")]).toEqual([404, "b"]);
    expect(server.arrivals).toHaveLength(1);
  });

  it("that reaches nobody is the platform's own error", async () => {
    const { fetch } = await openFetch(created);
    const port = await closedPort();
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toBeInstanceOf(TypeError);
  });

  it("keeps its body open for as long as the caller reads", async () => {
    let goOn = () => {};
    const { fetch, server } = await openFetch(
      (response) => {
        response.writeHead(200).write("first ");
        goOn = () => response.end("second");
      },
      { attemptTimeoutMs: 10_000 },
    );
    const response = await fetch(server.url);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect(await reader?.read()).toEqual({ done: false, value: "first " });
    goOn();
    expect(await reader?.read()).toEqual({ done: false, value: "second" });
  });

  it("is stopped by its signal, also while its body comes", async () => {
    const { fetch, server } = await openFetch((response) => response.writeHead(200).write("first"));
    const stop = new AbortController();
    const response = await fetch(server.url, { signal: stop.signal });
    stop.abort();
    await expect(response.text()).rejects.toMatchObject({ name: "AbortError" });
    await expect(fetch(server.url, { signal: stop.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(server.arrivals).toHaveLength(1);
  });

  it("that hangs is given up by its signal", async () => {
    const { fetch, server } = await openFetch(() => {});
    const stop = new AbortController();
    const call = fetch(server.url, { signal: stop.signal });
    await until(() => server.arrivals.length === 1);
    stop.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    expect(server.arrivals).toHaveLength(1);
  });
});

describe("the signal of a write", () => {
  it("before the send leaves nothing", async () => {
    const { inJob, server, hf } = await openFetch(created);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(inJob("/a", { ...post("x"), signal })).rejects.toThrow("enough");
    expect(server.arrivals).toHaveLength(0);
    expect((await hf.operations.list()).items).toEqual([]);
    expect((await inJob("/a", post("x"))).status).toBe(201);
  });

  it("while it is on its way to be claimed leaves nothing", async () => {
    const { inJob, server, hf } = await openFetch(created);
    await inJob("/other", post("warm up"));
    const stop = new AbortController();
    const call = inJob("/a", { ...post("x"), signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    expect(server.arrivals).toHaveLength(1);
    expect((await hf.operations.list({ open: true })).items).toEqual([]);
  });

  it("after the send means that it may still land", async () => {
    const hf = openHoldfire();
    const settled = heard(hf, "outcome");
    const { inJob, server } = await openFetch(() => {}, { keyed }, hf);
    const stop = new AbortController();
    const call = inJob("/a", { ...post("x"), signal: stop.signal });
    await until(() => server.arrivals.length === 1);
    stop.abort();
    await expect(call).rejects.toMatchObject({ code: "ERR_HOLDFIRE_IN_PROGRESS" });
    await until(() => settled.length === 1);
    expect(settled).toMatchObject([{ status: "unknown" }]);
    expect(server.arrivals).toHaveLength(1);
  });

  it("of a Request counts, too", async () => {
    const { hf, fetch, server } = await openFetch(created);
    const signal = AbortSignal.abort(new Error("enough"));
    const request = new Request(server.url, { ...post("x"), signal });
    await expect(hf.scope("job", () => fetch(request))).rejects.toThrow("enough");
    expect(server.arrivals).toHaveLength(0);
  });
});

it("a policy of reads says how often", async () => {
  const { fetch, server } = await openFetch(reset, { policy: () => ({ attempts: 2 }), keyed });
  await expect(fetch(server.url)).rejects.toBeInstanceOf(TypeError);
  expect(server.arrivals).toHaveLength(2);
});

it("an answer of a read may be JSON of any status", async () => {
  const { fetch, server } = await openFetch(json({ a: 1 }, 418));
  expect(await (await fetch(server.url)).json()).toEqual({ a: 1 });
});
