import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  closedPort,
  type FaultyService,
  faults,
  readFaults,
  startFaultyService,
} from "../../src/testing/faulty-service.ts";

let service: FaultyService;

beforeEach(async () => {
  service = await startFaultyService();
});

afterEach(() => service.close());

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(`${service.url}${path}`, { method: "POST", body, headers });

/** Sends bytes as they are and returns all that comes back. */
async function sendRaw(text: string): Promise<string> {
  const socket = connect(service.port, "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.end(text);
  await once(socket, "close");
  return Buffer.concat(chunks).toString();
}

describe("where it listens", () => {
  test("it is reached at its url on 127.0.0.1", async () => {
    expect(service.url).toBe(`http://127.0.0.1:${service.port}`);
    expect((await post("/keyed/effects", "{}")).status).toBe(201);
  });

  test.runIf(process.platform === "linux")("no other address reaches it", async () => {
    const elsewhere = connect(service.port, "127.0.0.2");
    const [error] = await once(elsewhere, "error").catch((thrown: unknown) => [thrown]);
    expect(error).toMatchObject({ code: "ECONNREFUSED" });
  });

  test("it can start again on the port it had", async () => {
    const { port } = service;
    await service.close();
    service = await startFaultyService({ port });
    expect(service.port).toBe(port);
    expect((await post("/keyed/effects", "{}")).status).toBe(201);
  });

  test("a port that is taken is an error, not another port", async () => {
    await expect(startFaultyService({ port: service.port })).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
  });

  test("a closed port refuses the connection", async () => {
    const url = `http://127.0.0.1:${await closedPort()}/keyed/effects`;
    await expect(fetch(url, { method: "POST", body: "{}" })).rejects.toMatchObject({
      cause: { code: "ECONNREFUSED" },
    });
  });
});

describe("the logs", () => {
  test("an arrival holds what was sent", async () => {
    await post("/keyed/effects", '{"b":1, "a":2}', { "idempotency-key": "k1" });
    expect(service.arrivals).toEqual([
      {
        seq: 1,
        at: expect.any(Number),
        method: "POST",
        path: "/keyed/effects",
        key: "k1",
        intent: { a: 2, b: 1 },
        identity: '{"a":2,"b":1}',
        body: '{"b":1, "a":2}',
        fault: undefined,
      },
    ]);
  });

  test("an effect names the arrival that caused it", async () => {
    const reply = await post("/readable/effects", '{"a":1}', { "idempotency-key": "k1" });
    expect(service.effects).toEqual([
      {
        seq: 2,
        at: expect.any(Number),
        class: "readable",
        effectId: ((await reply.json()) as { id: string }).id,
        effect: "created",
        key: "k1",
        intent: { a: 1 },
        identity: '{"a":1}',
        record: undefined,
        arrival: service.arrivals[0]?.seq,
      },
    ]);
  });

  test("one sequence runs through writes, reads and effects", async () => {
    await fetch(`${service.url}/readable/effects`);
    await post("/readable/effects", "1");
    await fetch(`${service.url}/readable/effects?key=k`);
    const { arrivals, reads, effects } = service;
    expect(reads.map(({ seq, path }) => [seq, path])).toEqual([
      [1, "/readable/effects"],
      [4, "/readable/effects?key=k"],
    ]);
    expect(arrivals.map(({ seq }) => seq)).toEqual([2]);
    expect(effects.map(({ seq }) => seq)).toEqual([3]);
  });

  test("a log held from the start shows what came later", async () => {
    const { arrivals, effects } = service;
    await post("/keyed/effects", "{}");
    expect([arrivals.length, effects.length]).toEqual([1, 1]);
  });

  test("a log and its entries cannot be changed", async () => {
    service.plan(faults.status({ status: 503, commit: true }));
    await post("/keyed/effects", '{"nested":{"a":1}}');
    const effects = service.effects as unknown[];
    expect(() => effects.pop()).toThrow(TypeError);
    expect(() => effects.push({})).toThrow(TypeError);
    expect(() => Object.freeze(effects)).toThrow(TypeError);
    expect(() => Object.setPrototypeOf(effects, null)).toThrow(TypeError);
    expect(() => Object.assign(effects, { length: 0 })).toThrow(TypeError);
    const [arrival] = service.arrivals;
    const { nested = {} } = (arrival?.intent ?? {}) as { nested?: object };
    expect(() => Object.assign(arrival ?? {}, { fault: undefined })).toThrow(TypeError);
    expect(() => Object.assign(nested, { a: 2 })).toThrow(TypeError);
    expect(() => Object.assign(arrival?.fault ?? {}, { status: 1 })).toThrow(TypeError);
    await post("/keyed/effects", "{}");
    expect([service.arrivals.length, service.effects.length]).toEqual([2, 2]);
  });

  test("equal intents have one identity, whatever the order of their fields", async () => {
    await post("/neither/effects", '{"a":{"x":1,"y":2},"b":[1,2]}');
    await post("/neither/effects", '{"b":[1,2],"a":{"y":2,"x":1}}');
    await post("/neither/effects", '{"b":[2,1],"a":{"y":2,"x":1}}');
    const [first, second, third] = service.effects.map(({ identity }) => identity);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  test("the clock and the randomness given are the ones used", async () => {
    await service.close();
    service = await startFaultyService({ now: () => 1_234, random: () => 0.5 });
    await post("/keyed/effects", "{}");
    await post("/keyed/effects", "{}");
    expect(service.arrivals.map(({ at }) => at)).toEqual([1_234, 1_234]);
    expect(service.effects.map(({ at }) => at)).toEqual([1_234, 1_234]);
    const [first, second] = service.effects.map(({ effectId }) => effectId);
    expect(first).not.toBe(second);
    expect(first).toBe("ef_zik0zk_2");
  });
});

describe("hostile input", () => {
  test.each([
    ["not JSON", "{"],
    ["nothing", ""],
    ["nesting that would exhaust the stack", "[".repeat(300_000) + "]".repeat(300_000)],
    ["nesting deeper than any honest body", "[".repeat(201) + "]".repeat(201)],
  ])("%s is answered with 400, logged, and uses up no fault", async (_what, body) => {
    service.plan(faults.resetBefore());
    expect((await post("/keyed/effects", body)).status).toBe(400);
    expect(service.arrivals).toMatchObject([{ body, intent: undefined, fault: undefined }]);
    expect(service.effects).toEqual([]);
    await expect(post("/keyed/effects", "{}")).rejects.toThrow();
  });

  test("a body of 1 MiB is taken, and one byte more is answered with 413", async () => {
    const quoted = (length: number) => `"${"a".repeat(length - 2)}"`;
    expect((await post("/keyed/effects", quoted(2 ** 20))).status).toBe(201);
    expect((await post("/keyed/effects", quoted(2 ** 20 + 1))).status).toBe(413);
    expect(service.arrivals[1]).toMatchObject({ body: "", intent: undefined });
    expect(service.effects).toHaveLength(1);
  });

  test("a field called __proto__ is a field like any other", async () => {
    const reply = await post("/keyed/effects", '{"__proto__":{"admin":true}}');
    expect(await reply.text()).toContain('"intent":{"__proto__":{"admin":true}}');
    expect(service.effects[0]?.identity).toBe('{"__proto__":{"admin":true}}');
    expect("admin" in Object.prototype).toBe(false);
  });

  test.each([
    ["POST", "/", 404],
    ["POST", "/unheard-of/effects", 404],
    ["POST", "/constructor/effects", 404],
    ["POST", "/keyed/effects/more", 404],
    ["PUT", "/keyed/records/a", 404],
    ["PUT", "/conditional/records", 404],
    ["PUT", "/conditional/records/a/b", 404],
    ["GET", "/conditional/records/%zz", 400],
    ["GET", "//elsewhere/keyed/effects", 400],
    ["DELETE", "/keyed/effects", 405],
    ["HEAD", "/keyed/effects", 405],
    ["DELETE", "/conditional/records/a", 405],
  ])("%s %s is answered with %i", async (method, path, status) => {
    const body = method === "GET" || method === "HEAD" ? null : "{}";
    const reply = await fetch(`${service.url}${path}`, { method, body });
    expect(reply.status).toBe(status);
    expect(service.effects).toEqual([]);
    expect(service.arrivals.length + service.reads.length).toBe(1);
  });

  test("bytes that are not HTTP are refused, and the service lives on", async () => {
    expect(await sendRaw("\u0000\u0001 garbage\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect((await post("/keyed/effects", "{}")).status).toBe(201);
  });

  test("a request that ends in the middle of its body has not arrived", async () => {
    const head = "POST /keyed/effects HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n";
    await sendRaw(`${head}{"a":`);
    expect((await post("/keyed/effects", "{}")).status).toBe(201);
    expect(service.arrivals.map(({ body }) => body)).toEqual(["{}"]);
  });

  test("a clock that throws is answered with 500, and the service lives on", async () => {
    let broken = true;
    const now = () => {
      if (broken) throw new Error("no time");
      return 0;
    };
    await service.close();
    service = await startFaultyService({ now });
    expect((await post("/keyed/effects", "{}")).status).toBe(500);
    broken = false;
    expect((await post("/keyed/effects", "{}")).status).toBe(201);
  });
});

describe("a plan that could not be played", () => {
  const circular: Record<string, unknown> = {};
  circular.self = circular;

  test.each([
    ["a status below 200", faults.status({ status: 101 })],
    ["a status that is no number", faults.status({ status: Number.NaN })],
    [
      "a header with a line break",
      faults.status({ status: 429, headers: { "retry-after": "1\r\n" } }),
    ],
    [
      "one such among many",
      faults.status({ status: 429, headers: { "retry-after": ["1", "\n"] } }),
    ],
    ["a header without a name", faults.status({ status: 429, headers: { "": "1" } })],
    ["a body that is not JSON", faults.status({ status: 500, body: circular })],
    ["a negative delay", faults.slow({ ms: -1, commit: "before" })],
    ["a delay that is no number", faults.lateCommit({ afterMs: Number.NaN })],
    ["a trickle backwards", faults.trickle({ everyMs: -1 })],
    ["a stored status above 599", faults.storedFailure({ status: 600 })],
    ["a redirect with a line break", faults.redirect({ to: "/\n" })],
    ["a fault that does not exist", JSON.parse('{"tag":"earthquake"}')],
  ])("%s is refused when it is planned", async (_what, fault) => {
    const refused = expect.objectContaining({ code: "ERR_HOLDFIRE_INVALID_INPUT" });
    expect(() => service.plan(fault)).toThrow(refused);
    expect(() => service.always(fault)).toThrow(refused);
    expect((await post("/keyed/effects", "{}")).status).toBe(201);
  });

  test.each([
    ["a status above 599", readFaults.status({ status: 700 })],
    ["a negative lag", readFaults.lag({ ms: -1 })],
    ["a fault that does not exist", JSON.parse('{"tag":"earthquake"}')],
  ])("for a read, %s is refused when it is planned", (_what, fault) => {
    const refused = expect.objectContaining({ code: "ERR_HOLDFIRE_INVALID_INPUT" });
    expect(() => service.planRead(fault)).toThrow(refused);
    expect(() => service.alwaysRead(fault)).toThrow(refused);
  });

  test("a key memory that is no time is refused at the start", async () => {
    await expect(startFaultyService({ keyMemoryMs: Number.NaN })).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_INVALID_INPUT",
      path: "keyMemoryMs",
    });
  });
});

describe("close", () => {
  test("it is safe twice, and the port is free", async () => {
    await Promise.all([service.close(), service.close()]);
    await service.close();
    await expect(post("/keyed/effects", "{}")).rejects.toMatchObject({
      cause: { code: "ECONNREFUSED" },
    });
  });

  test("it ends the requests that are not answered", async () => {
    service.plan(faults.blackHole({ commit: true }));
    const lost = expect(post("/keyed/effects", "{}")).rejects.toThrow("fetch failed");
    await expect.poll(() => service.arrivals.length).toBe(1);
    await service.close();
    await lost;
  });

  test("what was still to come does not come", async () => {
    service.plan(faults.lateCommit({ afterMs: 60_000 }));
    await post("/readable/effects", "{}").catch(() => {});
    await service.close();
    expect(service.commitLate()).toBe(0);
    expect(service.effects).toEqual([]);
  });

  test("`await using` closes it", async () => {
    let url: string;
    {
      await using scoped = await startFaultyService();
      url = scoped.url;
    }
    await expect(fetch(url)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
  });
});
