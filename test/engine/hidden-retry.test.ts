import { Agent, RetryAgent, request } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { createHoldfire, type HoldfireOptions } from "../../src/create.ts";
import { engineOf } from "../../src/engine/engine-of.ts";
import { runSample } from "../../src/engine/reads-and-samples/sample.ts";
import type { HoldfireEvents } from "../../src/observe/events.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { startService } from "../wire/servers.ts";

function open(onHiddenRetry?: HoldfireOptions["onHiddenRetry"]) {
  const hf = createHoldfire({
    store: memoryStore({ forgets: "accepted" }),
    retry: { minDelayMs: 1, maxDelayMs: 1 },
    onHiddenRetry,
  });
  const hidden: Extract<HoldfireEvents["warning"], { code: "hidden_retry" }>[] = [];
  hf.on("warning", (event) => {
    if (event.code === "hidden_retry") hidden.push(event);
  });
  onTestFinished(() => hf.close());
  return { hf, hidden };
}

const busy = () => startService((_, response) => response.writeHead(503).end("no"));

/** As people write it: three tries, then an error with the status. */
async function stubborn(url: string, method = "POST"): Promise<string> {
  for (let left = 2; ; left -= 1) {
    const answer = await fetch(`${url}/v1/pay?token=secret`, { method });
    if (answer.ok) return answer.text();
    if (left === 0) throw Object.assign(new Error("no"), { status: answer.status });
  }
}

function retrying(): RetryAgent {
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  return new RetryAgent(agent, { minTimeout: 1, maxRetries: 2 });
}

describe("a retry that nobody switched off is reported with its count", () => {
  it("a loop in the body of a tool that writes", async () => {
    const { url } = await busy();
    const { hf, hidden } = open();
    const pay = hf.tool({ name: "pay", kind: "write", run: (_: object) => stubborn(url) });
    const outcome = await pay.outcome({}, { scope: "job" });
    expect(outcome).toMatchObject({ status: "unknown", wireRequests: 3, attempts: 1 });
    const { id, key } = outcome;
    expect(hidden).toEqual([
      {
        code: "hidden_retry",
        ...{ tool: "pay", id, key, tenant: "default", scope: "job", attempt: 1 },
        ...{ origin: url, method: "POST", path: "/v1/pay", count: 3 },
      },
    ]);
  });

  it("a loop in the body of a tool that reads, for each of its attempts", async () => {
    const { url, arrived } = await busy();
    const { hf, hidden } = open();
    const look = hf.tool({
      name: "look",
      kind: "read",
      attempts: 2,
      run: (_: object) => stubborn(url, "GET"),
    });
    expect(await look.outcome({})).toMatchObject({ status: "not_applied", wireRequests: 6 });
    expect(hidden).toMatchObject([
      { tool: "look", attempt: 1, method: "GET", path: "/v1/pay", count: 3 },
      { tool: "look", attempt: 2, count: 3 },
    ]);
    expect(arrived).toHaveLength(6);
  });

  it("an undici RetryAgent", async () => {
    const { url } = await busy();
    const { hf, hidden } = open();
    const dispatcher = retrying();
    const put = hf.tool({
      name: "put",
      kind: "write",
      run: async (_: object) => void (await request(url, { method: "PUT", body: "b", dispatcher })),
    });
    await put.outcome({}, { scope: "job" });
    expect(hidden).toMatchObject([{ tool: "put", method: "PUT", count: 3 }]);
  });

  it("a client inside a model call", async () => {
    const { url } = await busy();
    const { hf, hidden } = open();
    const sample = { client: "mine", step: "ask", attempts: 1, send: () => stubborn(url) };
    await expect(runSample(sample, engineOf(hf))).rejects.toMatchObject({ status: 503 });
    expect(hidden).toMatchObject([{ tool: "mine", attempt: 1, count: 3 }]);
  });

  it("but reading page after page is none, nor is polling", async () => {
    const { url } = await startService((_, response) => response.end("{}"));
    const { hf, hidden } = open("fail");
    const list = hf.tool({
      name: "list",
      kind: "read",
      run: async (_: object) => {
        for (const page of [1, 2, 3]) await fetch(`${url}/items?page=${page}`);
        for (const _ of [1, 2, 3]) await fetch(`${url}/job`);
        return "all";
      },
    });
    expect(await list({})).toBe("all");
    expect(hidden).toEqual([]);
  });
});

describe('onHiddenRetry: "fail"', () => {
  it("ends a read after the attempt that did it, with an error that says what", async () => {
    const { url, arrived } = await busy();
    const { hf } = open("fail");
    const look = hf.tool({ name: "look", kind: "read", run: (_: object) => stubborn(url, "GET") });
    await expect(look({})).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_HIDDEN_RETRY",
      request: `GET ${url}/v1/pay`,
      operation: { tool: "look" },
    });
    expect(arrived).toHaveLength(3);
  });

  it("fails a read that came through by a hidden retry, too", async () => {
    const { url } = await startService((_, response, nth) =>
      response.writeHead(nth < 2 ? 503 : 200).end("ok"),
    );
    const { hf } = open("fail");
    const look = hf.tool({ name: "look", kind: "read", run: (_: object) => stubborn(url, "GET") });
    await expect(look({})).rejects.toMatchObject({ code: "ERR_HOLDFIRE_HIDDEN_RETRY" });
  });

  it("ends a model call after the attempt that did it", async () => {
    const { url, arrived } = await busy();
    const { hf } = open("fail");
    const sample = { client: "mine", step: "ask", attempts: 4, send: () => stubborn(url) };
    await expect(runSample(sample, engineOf(hf))).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_HIDDEN_RETRY",
      operation: { tool: "mine" },
    });
    expect(arrived).toHaveLength(3);
  });

  it("fires no write again after it, whatever its licence, and tells the outcome as it is", async () => {
    const { url, arrived } = await busy();
    const keyed = { forMs: 3_600_000 };
    const pay = (policy: HoldfireOptions["onHiddenRetry"]) =>
      open(policy).hf.tool({
        name: "pay",
        kind: "write",
        keyed,
        attempts: 2,
        run: (_: object, { key }) => stubborn(`${url}/${key.slice(0, 1)}`),
      });
    await expect(pay("report")({}, { scope: "job" })).rejects.toMatchObject({ reason: "attempts" });
    expect(arrived).toHaveLength(6);
    await expect(pay("fail")({}, { scope: "job" })).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_OUTCOME_UNKNOWN",
      reason: "attempts",
    });
    expect(arrived).toHaveLength(9);
  });

  it("leaves a write that was done, done", async () => {
    const { url } = await startService((_, response, nth) =>
      response.writeHead(nth < 2 ? 503 : 200).end("ok"),
    );
    const { hf, hidden } = open("fail");
    const pay = hf.tool({ name: "pay", kind: "write", run: (_: object) => stubborn(url) });
    expect(await pay({}, { scope: "job" })).toBe("ok");
    expect(hidden).toMatchObject([{ count: 2 }]);
  });

  it("of a read inside a write is no word on the write: that is told as it is", async () => {
    const { url } = await busy();
    const { hf } = open("fail");
    const look = hf.tool({ name: "look", kind: "read", run: (_: object) => stubborn(url, "GET") });
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      run: async (_: object) => {
        await fetch(url, { method: "POST" });
        return look({});
      },
    });
    await expect(pay({}, { scope: "job" })).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_OUTCOME_UNKNOWN",
      cause: { code: "ERR_HOLDFIRE_HIDDEN_RETRY" },
    });
  });

  it("is one of two words", () => {
    expect(() => open("never" as never)).toThrow(/onHiddenRetry: must be "report" or "fail"/);
  });
});

describe("samples inside a sample", () => {
  it("are sent once: the outer one decides, and the requests are its own", async () => {
    const { url, arrived } = await busy();
    const { hf } = open();
    const engine = engineOf(hf);
    const told: HoldfireEvents["sample"][] = [];
    hf.on("sample", (event) => told.push(event));
    const send = async () => {
      const { status } = await fetch(url, { method: "POST" });
      throw Object.assign(new Error("no"), { status });
    };
    const inner = () => runSample({ client: "inner", step: "ask", attempts: 3, send }, engine);
    const outer = { client: "outer", step: "ask", attempts: 2, send: inner };
    await expect(runSample(outer, engine)).rejects.toMatchObject({ status: 503 });
    expect(arrived).toHaveLength(2);
    expect(told).toMatchObject([
      { client: "outer", attempt: 1, wireRequests: 1 },
      { client: "outer", attempt: 2, wireRequests: 1 },
    ]);
  });
});
