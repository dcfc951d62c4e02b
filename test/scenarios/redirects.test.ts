/**
 * A redirect to another origin gets neither the key nor headers of one's own. Two real servers, two origins.
 *
 * @module
 */

import { describe, expect, test } from "vitest";
import { createFetch, guardedFetch } from "../../src/integrations/fetch/index.ts";
import { currentToken, wireFacts } from "../../src/wire/token.ts";
import { created, inTurn, keyed, status } from "../integrations/fetch/stage.ts";
import { openHoldfire, serve } from "../integrations/shared/owning.ts";
import { type Answer, json } from "../servers/counting-server.ts";

const OWN = { authorization: "Bearer s", cookie: "s", "x-api-key": "s", "x-tenant": "t" };
const SECRETS = [...Object.keys(OWN), "idempotency-key"];
const to = (code: number, location: string): Answer => status(code, { location });

/** One keyed write whose `run` sends this by a guarded fetch. */
async function send(url: string, init: RequestInit | ((key: string) => Request)) {
  const hf = openHoldfire();
  const fetch = guardedFetch();
  let seen = {};
  const tool = hf.tool({
    name: "send",
    kind: "write",
    keyed,
    attempts: 1,
    async run(_: object, { key }) {
      const token = currentToken();
      const headers = { ...OWN, "Idempotency-Key": key };
      try {
        const response = await (typeof init === "function"
          ? fetch(init(key))
          : fetch(url, { ...init, headers: { ...headers, ...init.headers } }));
        const { redirected, url: at } = response;
        return { status: response.status, text: await response.text(), redirected, at };
      } finally {
        seen = token
          ? { requests: wireFacts(token).wireRequests, hops: wireFacts(token).hops }
          : {};
      }
    },
  });
  const outcome = await tool.outcome({}, { scope: "job" });
  return { outcome, seen };
}

describe("guardedFetch", () => {
  test.each([301, 302, 303])("a POST sent on to a page by %i tells nothing", async (code) => {
    const other = await serve(json({ page: 1 }));
    const server = await serve(to(code, `${other.url}/page`));
    const headers = { accept: "text/html", "content-type": "text/csv" };
    const { seen } = await send(`${server.url}/a`, { method: "POST", body: "x", headers });
    expect(server.arrivals[0]?.headers).toMatchObject(OWN);
    expect(other.arrivals).toMatchObject([{ method: "GET", path: "/page", body: "" }]);
    const told = other.arrivals[0]?.headers ?? {};
    expect(told.accept).toBe("text/html");
    for (const name of [...SECRETS, "content-type"]) expect(told).not.toHaveProperty(name);
    expect(seen).toEqual({ requests: 1, hops: 1 });
  });

  test.each([301, 302, 303, 307, 308])("a GET sent on by %i tells nothing", async (code) => {
    const home = await serve(json({ a: 1 }));
    const other = await serve(to(302, `${home.url}/back`));
    const server = await serve(to(code, `${other.url}/b`));
    const { outcome, seen } = await send(server.url, { method: "GET" });
    expect(outcome).toMatchObject({
      status: "committed",
      result: { status: 200, redirected: true, at: `${home.url}/back` },
    });
    expect(other.arrivals).toHaveLength(1);
    for (const { headers } of [...other.arrivals, ...home.arrivals]) {
      for (const name of SECRETS) expect(headers).not.toHaveProperty(name);
    }
    expect(seen).toEqual({ requests: 1, hops: 2 });
  });

  test.each([307, 308])(
    "a write that %i sends to another origin stays, and is unknown",
    async (code) => {
      const other = await serve(created);
      const server = await serve(to(code, `${other.url}/b`));
      const { outcome } = await send(server.url, { method: "POST", body: "x" });
      expect(outcome).toMatchObject({ status: "unknown" });
      expect(server.arrivals).toHaveLength(1);
      expect(other.arrivals).toHaveLength(0);
    },
  );

  const form = () => {
    const data = new FormData();
    data.set("a", "1");
    return data;
  };
  test.each([
    ["a text", () => "a=1", "a=1"],
    ["bytes", () => new TextEncoder().encode("a=1"), "a=1"],
    ["parameters", () => new URLSearchParams({ a: "1" }), "a=1"],
    ["a blob", () => new Blob(["a=1"]), "a=1"],
    ["a form", form, 'name="a"'],
  ])(
    "a POST of %s sent on within its origin keeps key, headers and body",
    async (_, body, text) => {
      const server = await serve(inTurn(to(307, "/b"), created));
      const { outcome, seen } = await send(`${server.url}/a`, { method: "POST", body: body() });
      expect(outcome).toMatchObject({ status: "committed", result: { status: 201 } });
      const [first, second, ...more] = server.arrivals;
      expect(more).toEqual([]);
      expect(second).toMatchObject({ method: "POST", path: "/b", headers: OWN });
      expect(second?.body).toContain(text);
      expect(second?.headers["idempotency-key"]).toBe(first?.headers["idempotency-key"]);
      expect(seen).toEqual({ requests: 1, hops: 1 });
    },
  );

  test("so does a Request", async () => {
    const server = await serve(inTurn(to(307, "/b"), created));
    const request = (key: string) =>
      new Request(`${server.url}/a`, {
        method: "POST",
        body: "x",
        headers: { ...OWN, "Idempotency-Key": key },
      });
    expect((await send("", request)).outcome).toMatchObject({ status: "committed" });
    expect(server.arrivals).toMatchObject([{ body: "x" }, { path: "/b", body: "x", headers: OWN }]);
    expect(server.arrivals[1]?.headers).toHaveProperty("idempotency-key");
  });

  test("a stream is sent once", async () => {
    const server = await serve(inTurn(to(307, "/b"), created));
    const body = new Blob(["x"]).stream();
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    expect((await send(server.url, init)).outcome).toMatchObject({ status: "unknown" });
    expect(server.arrivals).toHaveLength(1);
  });

  test("a caller who follows redirects gets them as they are", async () => {
    const other = await serve(created);
    const server = await serve(to(302, other.url));
    const { outcome } = await send(server.url, { redirect: "manual" });
    expect(outcome).toMatchObject({ result: { status: 302 } });
    const { outcome: failed } = await send(server.url, { redirect: "error" });
    expect(failed).toMatchObject({ status: "unknown" });
    expect(other.arrivals).toHaveLength(0);
  });
});

test("createFetch: another origin gets neither the key nor a header of one's own", async () => {
  const other = await serve(json({ page: 1 }));
  const server = await serve(to(303, `${other.url}/page`));
  const hf = openHoldfire();
  const fetch = createFetch(hf, { keyed, attempts: 1, header: { name: "X-Request-Id" } });
  const post = { method: "POST", body: "x", headers: OWN };
  await hf.scope("job", () => fetch(server.url, post)).catch(() => {});
  expect(server.arrivals[0]?.headers).toMatchObject(OWN);
  expect(server.arrivals[0]?.headers).toHaveProperty("x-request-id");
  expect(other.arrivals).toHaveLength(1);
  for (const name of [...SECRETS, "x-request-id"]) {
    expect(other.arrivals[0]?.headers).not.toHaveProperty(name);
  }
});
