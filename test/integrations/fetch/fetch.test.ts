/** Writes of the guarded fetch: fired once, answered from the record, told as a `fetch` tells. */
import { describe, expect, it } from "vitest";
import { committed, createHoldfire } from "../../../src/index.ts";
import { createFetch } from "../../../src/integrations/fetch/index.ts";
import { memoryStore } from "../../../src/stores/memory.ts";
import { type Answer, json } from "../../servers/counting-server.ts";
import { rememberingStore } from "../../stores/remembering-store.ts";
import { heard, openHoldfire, serve } from "../shared/owning.ts";
import { created, inTurn, keyed, keysOf, openFetch, post, reset, status } from "./stage.ts";

const UUID_8 = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const UNKNOWN = { code: "ERR_HOLDFIRE_OUTCOME_UNKNOWN" };

describe("the policy", () => {
  it.each([
    ["a text", post("x")],
    ["no body", { method: "DELETE" }],
    ["JSON", post('{"a":1}', { "content-type": "application/json" })],
  ])("of a request with %s is asked when it is made", async (_, init) => {
    let job = "";
    const { fetch, server } = await openFetch(created, { policy: () => ({ scope: job }) });
    const calls = ["job-1", "job-2", "job-3"].map((now) => {
      job = now;
      return fetch(`${server.url}/refunds`, init);
    });
    await Promise.all(calls);
    expect(server.arrivals).toHaveLength(3);
  });
});

describe("a write", () => {
  it("is sent once, and the same call again is answered from the record", async () => {
    const { inJob, server } = await openFetch(created);
    const first = await inJob("/refunds", post(`{"cents":400}`));
    const again = await inJob("/refunds", post(`{"cents":400}`));
    expect(server.arrivals).toHaveLength(1);
    for (const response of [first, again]) {
      expect(response).toBeInstanceOf(Response);
      expect(response.status).toBe(201);
      expect(response.url).toBe(`${server.url}/refunds`);
      expect(response.headers.get("content-type")).toBe("application/json");
      expect(await response.json()).toEqual({ id: "re_1" });
    }
    expect(first.headers.get("x-trace")).toBe("t1");
  });

  it("is sent once by callers side by side, and each has a body of its own", async () => {
    const { inJob, server } = await openFetch(created);
    const calls = [1, 2, 3].map(() => inJob("/refunds", post("x")));
    const bodies = await Promise.all(calls.map(async (call) => (await call).json()));
    expect(bodies).toEqual([{ id: "re_1" }, { id: "re_1" }, { id: "re_1" }]);
    expect(server.arrivals).toHaveLength(1);
  });

  it("is answered from the record in another process, too", async () => {
    const store = memoryStore({ forgets: "accepted" });
    const { inJob, server } = await openFetch(created, {}, openHoldfire({ store }));
    await inJob("/a", post("x"));
    const hf = createHoldfire({ store });
    const response = await hf.scope("job", () => hf.fetch(`${server.url}/a`, post("x")));
    expect(await response.json()).toEqual({ id: "re_1" });
    expect(server.arrivals).toHaveLength(1);
  });

  it("whose reply is lost stays unknown, and is not sent again", async () => {
    const { inJob, server } = await openFetch(reset);
    for (let call = 0; call < 3; call += 1) {
      await expect(inJob("/refunds", post("x"))).rejects.toMatchObject(UNKNOWN);
    }
    expect(server.arrivals).toHaveLength(1);
  });

  it("to a keyed service is sent again with the same key", async () => {
    const { inJob, server } = await openFetch(inTurn(reset, created), { keyed });
    expect(await (await inJob("/refunds", post("x"))).json()).toEqual({ id: "re_2" });
    expect(server.arrivals).toHaveLength(2);
    expect(server.arrivals.map(({ body }) => body)).toEqual(["x", "x"]);
    expect(new Set(keysOf(server)).size).toBe(1);
    expect(keysOf(server)[0]).toMatch(UUID_8);
  });

  it("that the service is still at is asked for again until it is done", async () => {
    const busy = json({ error: { type: "idempotency_key_in_use" } }, 409);
    const { inJob, server } = await openFetch(inTurn(busy, busy, created), { keyed });
    expect((await inJob("/refunds", post("x"))).status).toBe(201);
    expect(server.arrivals).toHaveLength(3);
    expect(new Set(keysOf(server)).size).toBe(1);
  });

  it("that can be read is read, not repeated", async () => {
    const asked: unknown[] = [];
    const readState = ({ intent }: { intent: unknown }) => {
      asked.push(intent);
      return committed({ id: "re_found" });
    };
    const hf = openHoldfire({ store: rememberingStore() });
    const { inJob, server } = await openFetch(reset, { readState }, hf);
    const response = await inJob("/refunds?a=1#part", post(`{"b":1}`));
    expect(await response.json()).toEqual({ id: "re_found" });
    expect(await (await inJob("/refunds?a=1", post(`{"b":1}`))).json()).toEqual({ id: "re_found" });
    expect(server.arrivals).toHaveLength(1);
    const url = `${server.url}/refunds?a=1`;
    expect(asked).toEqual([{ method: "POST", url, body: { json: { b: 1 } } }]);
  });

  it("without a scope is an error, and nothing is sent", async () => {
    const { fetch, server } = await openFetch(created);
    await expect(fetch(server.url, post("x"))).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_MISSING_SCOPE",
    });
    expect(server.arrivals).toHaveLength(0);
  });

  it("takes its scope from the options, too, and another scope is another write", async () => {
    const hf = openHoldfire();
    const server = await serve(created);
    for (const scope of ["a", "a", "b"]) {
      await createFetch(hf, { scope })(server.url, post("x"));
    }
    expect(server.arrivals).toHaveLength(2);
    expect(new Set(keysOf(server)).size).toBe(2);
  });

  it.each([
    ["method", "PUT", "/a", "x"],
    ["path", "POST", "/b", "x"],
    ["query", "POST", "/a?q", "x"],
    ["body", "POST", "/a", "y"],
  ])("with another %s is another write", async (_, method, path, body) => {
    const { inJob, server } = await openFetch(created);
    await inJob("/a", { method: "POST", body: "x" });
    await inJob(path, { method, body });
    expect(server.arrivals).toHaveLength(2);
  });

  it("with other headers is the same write", async () => {
    const { inJob, server } = await openFetch(created);
    await inJob("/a", post("x", { "x-attempt": "1" }));
    await inJob("/a", post("x", { "x-attempt": "2" }));
    expect(server.arrivals).toHaveLength(1);
  });

  it("wanted once more is another one", async () => {
    const hf = openHoldfire();
    const { inJob, server } = await openFetch(created, {}, hf);
    await inJob("/a", post("x"));
    const again = createFetch(hf, { again: "second reminder" });
    await hf.scope("job", () => again(`${server.url}/a`, post("x")));
    expect(server.arrivals).toHaveLength(2);
  });

  it("inside an attempt of a tool belongs to that operation, also when the tool loops", async () => {
    const { hf, fetch, server } = await openFetch(created);
    const tool = hf.tool({
      name: "refund",
      kind: "write",
      run: async (_: object) => {
        for (let n = 0; n < 3; n += 1) await fetch(server.url, post("x"));
        return "done";
      },
    });
    expect(await tool({}, { scope: "job" })).toBe("done");
    expect(server.arrivals).toHaveLength(1);
  });
});

describe("a no of the service", () => {
  it.each([400, 401, 403, 404, 405, 410, 412, 422])(
    "%i is returned, and not sent again",
    async (code) => {
      const { inJob, server, hf } = await openFetch(
        status(code, { "x-a": "b" }, "no such payment"),
      );
      const first = await inJob("/refunds", post("x"));
      expect(first.status).toBe(code);
      expect(first.headers.get("x-a")).toBe("b");
      expect(await first.text()).toBe("no such payment");
      const again = await inJob("/refunds", post("x"));
      expect(again.status).toBe(code);
      expect(again.headers.get("content-type")).toBe("application/problem+json");
      expect(server.arrivals).toHaveLength(1);
      expect((await hf.operations.list()).items).toMatchObject([{ status: "not_applied" }]);
    },
  );

  it("is asked for anew when somebody says why", async () => {
    const hf = openHoldfire();
    const { inJob, server } = await openFetch(inTurn(status(404), created), {}, hf);
    expect((await inJob("/a", post("x"))).status).toBe(404);
    const retry = createFetch(hf, { retry: "the account exists now" });
    const response = await hf.scope("job", () => retry(`${server.url}/a`, post("x")));
    expect(response.status).toBe(201);
  });

  it("that was declared a refusal is returned when the attempts are used up, and replayed", async () => {
    const busy = status(429, { "retry-after": "0" }, "slow down");
    const { inJob, server } = await openFetch(busy, { refuses: [429], attempts: 2 });
    const first = await inJob("/a", post("x"));
    expect([first.status, await first.text()]).toEqual([429, "slow down"]);
    expect((await inJob("/a", post("x"))).status).toBe(429);
    expect(server.arrivals).toHaveLength(2);
  });

  it("that proves nothing is an error", async () => {
    const { inJob, server } = await openFetch(status(429));
    await expect(inJob("/a", post("x"))).rejects.toMatchObject(UNKNOWN);
    expect(server.arrivals).toHaveLength(1);
  });

  /** The connection ends in the middle of the body, and the client can tell. */
  const brokenOff: Answer = (response) => {
    response.writeHead(400, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"error":{"type":"idempotency_err', () => response.destroy());
  };
  /** It ends there too, but so does the answer. */
  const cutShort = status(
    400,
    { "content-type": "application/json" },
    '{"error":{"type":"idempotency_err',
  );

  it.each([
    ["breaks off", brokenOff],
    ["is cut short", cutShort],
  ])(
    "400 of a keyed service whose body %s proves nothing: it may be about the key",
    async (_, answer) => {
      const { inJob, hf, server } = await openFetch(answer, { keyed, attempts: 1 });
      await expect(inJob("/a", post("x"))).rejects.toMatchObject(UNKNOWN);
      const tool = hf.tool({
        name: "pay",
        kind: "write",
        keyed,
        attempts: 1,
        run: (_: object, { key }) => fetch(server.url, post("x", { "idempotency-key": key })),
      });
      expect(await tool.outcome({}, { scope: "job" })).toMatchObject({ status: "unknown" });
    },
  );

  it("400 whose body breaks off is a no where no key is in play", async () => {
    const { inJob, server } = await openFetch(brokenOff);
    expect((await inJob("/a", post("x"))).status).toBe(400);
    expect((await inJob("/a", post("x"))).status).toBe(400);
    expect(server.arrivals).toHaveLength(1);
  });

  it("422 that names the key is a key conflict", async () => {
    const answer = json({ type: "https://api.example/errors/idempotency-key-reused" }, 422);
    const { inJob } = await openFetch(answer, { keyed });
    await expect(inJob("/a", post("x"))).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_KEY_CONFLICT",
    });
  });

  it("422 that names the key after a lost reply stays unknown: the first may have been a yes", async () => {
    const answer = json({ type: "https://api.example/errors/idempotency-key-reused" }, 422);
    const { inJob } = await openFetch(inTurn(reset, answer), { keyed });
    await expect(inJob("/a", post("x"))).rejects.toMatchObject(UNKNOWN);
  });

  it("422 of a keyed service that does not name the key proves nothing, unless it is declared", async () => {
    const invalid = json({ message: "cents must be positive" }, 422);
    const { inJob } = await openFetch(invalid, { keyed });
    await expect(inJob("/a", post("x"))).rejects.toMatchObject(UNKNOWN);
    const classify = (answer: unknown) =>
      (answer as Response).status === 422 ? ("rejected" as const) : undefined;
    const declared = await openFetch(invalid, { keyed, classify });
    expect((await declared.inJob("/a", post("x"))).status).toBe(422);
  });
});

describe("the key", () => {
  it("is quoted in the IETF form, and goes in the header that was named", async () => {
    const header = { name: "X-Idempotency", form: "ietf" } as const;
    const { inJob, server } = await openFetch(created, { header });
    await inJob("/a", post("x"));
    const sent = String(server.arrivals[0]?.headers["x-idempotency"]);
    expect(sent.slice(1, -1)).toMatch(UUID_8);
    expect(sent).toBe(`"${sent.slice(1, -1)}"`);
  });

  it("of the caller is refused, and nothing is sent", async () => {
    const { inJob, server } = await openFetch(created);
    await expect(inJob("/a", post("x", { "idempotency-key": "mine" }))).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_INVALID_INPUT",
      path: "init.headers.Idempotency-Key",
    });
    expect(server.arrivals).toHaveLength(0);
  });

  it("of the caller is replaced by ours where that is said", async () => {
    const { inJob, server } = await openFetch(created, { callerKey: "replace" });
    await inJob("/a", post("x", { "idempotency-key": "try-1" }));
    await inJob("/a", post("x", { "idempotency-key": "try-2" }));
    expect(server.arrivals).toHaveLength(1);
    expect(keysOf(server)[0]).toMatch(UUID_8);
  });

  it("of the caller names the operation where that is said, without any scope", async () => {
    const { fetch, server } = await openFetch(created, { callerKey: "use" });
    const call = (key: string, body = "x") =>
      fetch(server.url, post(body, { "idempotency-key": key }));
    await call("order-1");
    await call("order-1");
    await call("order-2");
    expect(server.arrivals).toHaveLength(2);
    await expect(call("order-1", "y")).rejects.toMatchObject({ code: "ERR_HOLDFIRE_KEY_CONFLICT" });
    expect(server.arrivals).toHaveLength(2);
  });
});

describe("what is declared of one request", () => {
  it("can ask a person first", async () => {
    const { inJob, server } = await openFetch(created, {
      policy: ({ method }) => (method === "DELETE" ? { kind: "destructive" } : undefined),
    });
    await inJob("/a", post("x"));
    await expect(inJob("/a", { method: "DELETE" })).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_APPROVAL_REQUIRED",
    });
    expect(server.arrivals).toHaveLength(1);
  });

  it("can make a POST a read, which needs no scope", async () => {
    const policy = ({ url }: { url: string }) =>
      url.endsWith("/search") ? { kind: "read" as const } : {};
    const { fetch, server } = await openFetch(inTurn(reset, json([1])), { policy });
    expect(await (await fetch(`${server.url}/search`, post(`{"q":1}`))).json()).toEqual([1]);
    expect(server.arrivals.map(({ body }) => body)).toEqual([`{"q":1}`, `{"q":1}`]);
  });

  it("can choose the intent", async () => {
    const { inJob, server } = await openFetch(created, {
      intent: (request) => ({ to: JSON.parse(request.text()).to }),
    });
    await inJob("/mail", post(`{"to":"ana","text":"hello"}`));
    await inJob("/mail", post(`{"to":"ana","text":"hello again"}`));
    expect(server.arrivals).toHaveLength(1);
  });

  it("must say something of the intent", async () => {
    const { inJob, server } = await openFetch(created, { intent: (() => undefined) as never });
    await expect(inJob("/a", post("x"))).rejects.toMatchObject({ path: "intent()" });
    expect(server.arrivals).toHaveLength(0);
  });

  it("is checked", async () => {
    const { inJob, server } = await openFetch(created, {
      policy: () => ({ keyd: true }) as object,
    });
    await expect(inJob("/a", post("x"))).rejects.toMatchObject({ path: "policy().keyd" });
    const later = await openFetch(created, { policy: (async () => ({})) as never });
    await expect(later.inJob("/a", post("x"))).rejects.toMatchObject({ path: "policy()" });
    expect(server.arrivals).toHaveLength(0);
  });
});

describe("bad input", () => {
  const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });

  it.each([
    ["options.keyd", { keyd: 1 }],
    ["options.header.name", { header: { name: "a b" } }],
    ["options.header.form", { header: { form: "quoted" } }],
    ["options.header.nme", { header: { nme: "x" } }],
    ["options.callerKey", { callerKey: "keep" }],
    ["options.failures", { failures: "ignore" }],
    ["options.maxBodyBytes", { maxBodyBytes: "10" }],
    ["options.policy", { policy: {} }],
    ["options.fetch", { fetch: 1 }],
    ["options.intent", { intent: {} }],
    ["options.deadlineMs", { deadlineMs: "1" }],
    ["name", { name: "" }],
  ])("%s", (path, options) => {
    expect(() => createFetch(hf, options as object)).toThrow(expect.objectContaining({ path }));
  });

  it("what is no holdfire, or a closed one", async () => {
    expect(() => createFetch({} as never)).toThrow(expect.objectContaining({ path: "hf" }));
    const closed = openHoldfire();
    await closed.close();
    expect(() => createFetch(closed)).toThrow(
      expect.objectContaining({ code: "ERR_HOLDFIRE_CLOSED" }),
    );
    await expect(closed.fetch("http://127.0.0.1/")).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_CLOSED",
    });
  });

  it.each([
    ["a URL that is none", "nowhere", {}],
    ["a GET with a body", "http://127.0.0.1/", { body: "x" }],
    ["a method that is forbidden", "http://127.0.0.1/", { method: "CONNECT" }],
    ["a header that is none", "http://127.0.0.1/", { headers: { "a b": "c" } }],
  ])("%s is the platform's own error", async (_, url, init) => {
    await expect(createFetch(hf)(url, init)).rejects.toBeInstanceOf(TypeError);
  });
});

describe("hf.fetch", () => {
  it("guards writes and repeats reads", async () => {
    const hf = openHoldfire();
    const server = await serve(inTurn(created, reset, json({ a: 1 })));
    const { fetch } = hf;
    await hf.scope("job", () => fetch(server.url, post("x")));
    await hf.scope("job", () => fetch(server.url, post("x")));
    expect(server.arrivals).toHaveLength(1);
    expect(await (await fetch(new URL(server.url))).json()).toEqual({ a: 1 });
    expect(server.arrivals).toHaveLength(3);
  });

  it("can stand in the place of the global one", async () => {
    const hf = openHoldfire();
    const server = await serve(created);
    const platform = globalThis.fetch;
    globalThis.fetch = hf.fetch;
    try {
      expect((await fetch(server.url)).status).toBe(201);
    } finally {
      globalThis.fetch = platform;
    }
    expect(server.arrivals).toHaveLength(1);
  });

  it("keeps tenants apart", async () => {
    const hf = openHoldfire();
    const server = await serve(created);
    for (const tenant of ["a", "b"]) {
      const its = hf.forTenant(tenant);
      await its.scope("job", () => its.fetch(server.url, post("x")));
    }
    expect(server.arrivals).toHaveLength(2);
  });

  it("serves what is under way while it is closed", async () => {
    const hf = openHoldfire();
    const server = await serve(created);
    let goOn = () => {};
    const closing = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let started = () => {};
    const running = new Promise<void>((resolve) => {
      started = resolve;
    });
    const tool = hf.tool({
      name: "outer",
      kind: "write",
      run: async (_: object) => {
        started();
        await closing;
        return (await hf.fetch(server.url, post("x"))).status;
      },
    });
    await hf.scope("warm", () => hf.fetch(server.url, post("warm up")));
    const result = tool({}, { scope: "job" });
    await running;
    const closed = hf.close();
    goOn();
    expect(await result).toBe(201);
    await closed;
  });
});

it("failures can be told by a response that asks not to be retried", async () => {
  const { inJob, server } = await openFetch(reset, { failures: "respond" });
  const response = await inJob("/a", post("x"));
  expect(response.status).toBe(409);
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(await response.json()).toMatchObject({ code: "ERR_HOLDFIRE_OUTCOME_UNKNOWN" });
  expect(server.arrivals).toHaveLength(1);
});

it("a body too long for the ledger is committed without it, and says so the second time", async () => {
  const hf = openHoldfire({ payloads: { maxBytes: 100 } });
  const lost = heard(hf, "warning", "payload_lost");
  const { inJob, server } = await openFetch(json({ text: "a".repeat(200) }), {}, hf);
  expect(await (await inJob("/a", post("x"))).json()).toEqual({ text: "a".repeat(200) });
  await expect(inJob("/a", post("x"))).rejects.toMatchObject({ code: "ERR_HOLDFIRE_RESULT_LOST" });
  expect(server.arrivals).toHaveLength(1);
  expect(lost).toHaveLength(1);
});
