/** Redirects: a write and its secrets stay at their origin. Two real servers, two origins. */
import { describe, expect, it } from "vitest";
import type { Answer } from "../../servers/counting-server.ts";
import { json } from "../../servers/counting-server.ts";
import { serve } from "../shared/owning.ts";
import { created, inTurn, keyed, openFetch, post, status } from "./stage.ts";

const SECRETS = {
  authorization: "Bearer secret",
  cookie: "session=secret",
  "proxy-authorization": "Basic secret",
  "x-api-key": "secret",
};
const UNKNOWN = { code: "ERR_HOLDFIRE_OUTCOME_UNKNOWN" };
const to = (code: number, location: string): Answer => status(code, { location });

describe.each([307, 308])("a POST that is redirected by %i", (code) => {
  it("to another origin goes no further, and is not known", async () => {
    const other = await serve(created);
    const { inJob, server, hf } = await openFetch(to(code, `${other.url}/b`));
    const error = await inJob("/a", post("x", SECRETS)).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ ...UNKNOWN, cause: { status: code } });
    expect(String((error as { cause: unknown }).cause)).toContain(other.url);
    expect(server.arrivals).toHaveLength(1);
    expect(other.arrivals).toHaveLength(0);
    expect((await hf.operations.list()).items).toMatchObject([{ status: "unknown" }]);
  });

  it("to another origin is not applied where the service says so", async () => {
    const other = await serve(created);
    const { inJob, hf } = await openFetch(to(code, other.url), { refuses: [code], attempts: 1 });
    const response = await inJob("/a", post("x"));
    expect(response.status).toBe(code);
    expect(response.headers.get("location")).toBe(other.url);
    expect((await hf.operations.list()).items).toMatchObject([{ status: "not_applied" }]);
    expect(other.arrivals).toHaveLength(0);
  });

  it("within its origin is one write, with key, body and authorization", async () => {
    const { inJob, server } = await openFetch(inTurn(to(code, "/b"), created), { keyed });
    const response = await inJob("/a", post("x", SECRETS));
    expect(response.status).toBe(201);
    expect(server.arrivals.map(({ method, path, body }) => [method, path, body])).toEqual([
      ["POST", "/a", "x"],
      ["POST", "/b", "x"],
    ]);
    const [first, second] = server.arrivals;
    expect(second?.headers).toMatchObject(SECRETS);
    expect(second?.headers["idempotency-key"]).toBe(first?.headers["idempotency-key"]);
    await inJob("/a", post("x", SECRETS));
    expect(server.arrivals).toHaveLength(2);
  });

  it("to where it came from ends", async () => {
    const { inJob, server } = await openFetch(to(code, "/a"));
    await expect(inJob("/a", post("x"))).rejects.toMatchObject(UNKNOWN);
    expect(server.arrivals).toHaveLength(1);
  });
});

it.each(["PUT", "PATCH", "DELETE"])(
  "a %s redirected by 302 does not leave its origin",
  async (method) => {
    const other = await serve(created);
    const { inJob } = await openFetch(to(302, other.url));
    await expect(inJob("/a", { method })).rejects.toMatchObject(UNKNOWN);
    expect(other.arrivals).toHaveLength(0);
  },
);

describe.each([301, 302, 303])("a POST that is redirected by %i to a page", (code) => {
  it("is followed to another origin without key, body and secrets; only a 303 is a yes", async () => {
    const other = await serve(json({ page: 1 }));
    const { inJob, server } = await openFetch(to(code, `${other.url}/page`));
    const headers = { ...SECRETS, accept: "text/html", "content-type": "text/csv" };
    const answer = await inJob("/a", post("x", headers)).catch((error: unknown) => error);
    expect(answer).toMatchObject(code === 303 ? { status: 200 } : UNKNOWN);
    expect(server.arrivals).toHaveLength(1);
    expect(other.arrivals).toMatchObject([{ method: "GET", path: "/page", body: "" }]);
    const seen = other.arrivals[0]?.headers ?? {};
    expect(seen.accept).toBe("text/html");
    for (const name of [...Object.keys(SECRETS), "idempotency-key", "content-type"]) {
      expect(seen).not.toHaveProperty(name);
    }
  });

  it("is a success where that is declared", async () => {
    const classify = (answer: unknown) =>
      (answer as Response).ok ? ("committed" as const) : undefined;
    const { inJob, server } = await openFetch(inTurn(to(code, "/page"), json({ page: 1 })), {
      classify,
    });
    expect(await (await inJob("/a", post("x"))).json()).toEqual({ page: 1 });
    expect(await (await inJob("/a", post("x"))).json()).toEqual({ page: 1 });
    expect(server.arrivals).toHaveLength(2);
    expect(server.arrivals[1]?.headers).not.toHaveProperty("idempotency-key");
  });
});

describe("a read that is redirected", () => {
  it("leaves its secrets behind at another origin, also on the way back", async () => {
    const home = await serve(json({ a: 1 }));
    const other = await serve(to(302, `${home.url}/back`));
    const { fetch, server } = await openFetch(to(307, `${other.url}/b`));
    const response = await fetch(server.url, { headers: { ...SECRETS, range: "bytes=0-9" } });
    expect(await response.json()).toEqual({ a: 1 });
    expect(response.redirected).toBe(true);
    expect(response.url).toBe(`${home.url}/back`);
    expect(server.arrivals[0]?.headers).toMatchObject(SECRETS);
    for (const { headers } of [...other.arrivals, ...home.arrivals]) {
      expect(headers.range).toBe("bytes=0-9");
      for (const name of Object.keys(SECRETS)) expect(headers).not.toHaveProperty(name);
    }
  });

  it("keeps them within its origin", async () => {
    const { fetch, server } = await openFetch(inTurn(to(302, "/b"), json({})));
    await fetch(server.url, { headers: SECRETS });
    expect(server.arrivals[1]?.headers).toMatchObject(SECRETS);
  });

  it("with a body stays at its origin, and the redirect is what it gets", async () => {
    const other = await serve(created);
    const { fetch, server } = await openFetch(to(307, other.url), { kind: "read" });
    expect((await fetch(server.url, post("x"))).status).toBe(307);
    expect(server.arrivals).toHaveLength(1);
    expect(other.arrivals).toHaveLength(0);
  });

  it("is returned as it is, or an error, where the caller says so", async () => {
    const { fetch, server } = await openFetch(to(302, "/b"));
    expect((await fetch(server.url, { redirect: "manual" })).status).toBe(302);
    await expect(fetch(server.url, { redirect: "error" })).rejects.toBeInstanceOf(TypeError);
    expect(server.arrivals).toHaveLength(2);
  });

  it("without end ends", async () => {
    const { fetch, server } = await openFetch((response, _, nth) =>
      response.writeHead(302, { location: `/${nth}` }).end(),
    );
    expect((await fetch(server.url)).status).toBe(302);
    expect(server.arrivals.length).toBeLessThan(25);
  });

  it("to what is not the web is not followed", async () => {
    const { fetch, server } = await openFetch(to(302, "file:///etc/hosts"));
    expect((await fetch(server.url)).status).toBe(302);
  });
});
