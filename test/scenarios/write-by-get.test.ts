/** Some services do things on GET. Where a tool says that it writes, its GET is not taken for a read that did nothing. */
import { describe, expect, onTestFinished, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import type { AttemptContext } from "../../src/engine/define/definition.ts";
import { typed } from "../../src/engine/define/schema.ts";
import { httpTool } from "../../src/http-tool/http-tool.ts";
import { createFetch } from "../../src/integrations/fetch/index.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { closedPort, type Handler, startService } from "../wire/servers.ts";

const ONCE = { scope: "s" };
const ANA = { to: "ana" };

function open() {
  const store = memoryStore({ forgets: "accepted" });
  const hf = createHoldfire({ app: "sms", store, retry: { minDelayMs: 1, maxDelayMs: 1 } });
  onTestFinished(() => hf.close());
  return hf;
}

const reset: Handler = (request) => request.socket.destroy();
const answer =
  (status: number): Handler =>
  (_, response) =>
    response.writeHead(status, { "content-type": "application/json" }).end("{}");

describe("httpTool({ kind: write, method: GET })", () => {
  const smsTo = (url: string) =>
    open().tool(
      httpTool({
        name: "sms",
        kind: "write",
        method: "GET",
        url: `${url}/sms?to={to}`,
        input: typed<{ to: string }>(),
      }),
    );

  test.each([
    ["a lost reply", reset, { status: "unknown", reason: "lost_reply" }],
    ["a 500", answer(500), { status: "unknown", reason: "unclear_answer" }],
    ["a 404", answer(404), { status: "not_applied", reason: "rejected" }],
    ["a 200", answer(200), { status: "committed" }],
  ])("%s: judged as a write, and sent once", async (_, handler, expected) => {
    const { url, arrived } = await startService(handler);
    expect(await smsTo(url).outcome(ANA, ONCE)).toMatchObject(expected);
    expect(arrived).toEqual(["GET /sms?to=ana"]);
  });

  test("a connection that was refused: not sent, and tried again by itself", async () => {
    const sms = smsTo(`http://127.0.0.1:${await closedPort()}`);
    expect(await sms.outcome(ANA, ONCE)).toMatchObject({
      status: "not_applied",
      reason: "not_sent",
      attempts: 3,
    });
  });
});

describe("createFetch with a policy that says write", () => {
  const send = async (handler: Handler) => {
    const { url, arrived } = await startService(handler);
    const fetch = createFetch(open(), { policy: () => ({ kind: "write", scope: "s" }) });
    const told = await fetch(`${url}/sms?to=ana`).then(
      ({ status }) => status,
      ({ code }: { code: string }) => code,
    );
    expect(arrived).toEqual(["GET /sms?to=ana"]);
    return told;
  };

  test("a lost reply, and a 500: unknown, and sent once", async () => {
    expect(await send(reset)).toBe("ERR_HOLDFIRE_OUTCOME_UNKNOWN");
    expect(await send(answer(500))).toBe("ERR_HOLDFIRE_OUTCOME_UNKNOWN");
  });

  test("a 404 and a 200 are the service's answers", async () => {
    expect(await send(answer(404))).toBe(404);
    expect(await send(answer(200))).toBe(200);
  });
});

describe("a run of one's own that is via http, and of which no write was seen", () => {
  type Run = (url: string, context: AttemptContext) => Promise<unknown>;

  async function call(handler: Handler, run: Run, ignored = "http://127.0.0.1:1") {
    const { url, arrived } = await startService(handler);
    const sms = open().tool({
      name: "sms",
      kind: "write",
      via: "http",
      ignores: [({ url: asked }) => asked.startsWith(`${url}${ignored}`)],
      run: (_: { to: string }, context) => run(url, context),
    });
    const outcome = await sms.outcome(ANA, ONCE);
    return { outcome, arrived };
  }

  const get: Run = async (url, { fetch }) => {
    const response = await fetch(`${url}/sms`);
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    throw new Error("This number is not known.");
  };
  const swallow: Run = async (url, { fetch }) => (await fetch(`${url}/sms`)).json();

  test.each([
    ["was lost", reset, get, { status: "unknown", reason: "lost_reply" }],
    ["was answered 500", answer(500), get, { status: "unknown", reason: "unclear_answer" }],
    ["was answered 500, which run swallowed", answer(500), swallow, { status: "unknown" }],
    ["was answered 404", answer(404), get, { status: "not_applied", reason: "rejected" }],
    ["was answered 404, which run knows", answer(404), swallow, { status: "committed" }],
  ])(
    "its GET %s: it may have been the write, and is not sent again",
    async (_, handler, run, expected) => {
      const { outcome, arrived } = await call(handler, run);
      expect(outcome).toMatchObject(expected);
      expect(arrived).toHaveLength(1);
    },
  );

  test("its GET was answered 2xx, or is ignored: it was a read, and nothing was sent", async () => {
    const expected = { status: "not_applied", reason: "not_sent", attempts: 3 };
    expect((await call(answer(200), get)).outcome).toMatchObject(expected);
    expect((await call(answer(500), get, "/sms")).outcome).toMatchObject(expected);
  });

  test("its GET was refused the connection: nothing was sent", async () => {
    const closed = `http://127.0.0.1:${await closedPort()}`;
    const { outcome } = await call(answer(200), (_, { fetch }) => fetch(closed));
    expect(outcome).toMatchObject({ status: "not_applied", reason: "not_sent", attempts: 3 });
  });

  test("beside a write a GET is a read: what became of the write decides", async () => {
    const closed = `http://127.0.0.1:${await closedPort()}`;
    const { outcome } = await call(answer(500), async (url, { fetch }) => {
      await fetch(`${url}/sms`);
      return fetch(closed, { method: "POST" });
    });
    expect(outcome).toMatchObject({ status: "not_applied", reason: "not_sent", attempts: 3 });
  });
});
