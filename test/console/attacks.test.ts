/** Attacks on the console, each refused. */
import { afterEach, describe, expect, test } from "vitest";
import { authorizeByToken } from "../../src/cli/console/serve.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { type ConsoleWorld, consoleWorld, HOST, problemIn } from "./console-world.ts";

const open: ConsoleWorld[] = [];
const world = (...given: Parameters<typeof consoleWorld>): ConsoleWorld => {
  const made = consoleWorld(...given);
  open.push(made);
  return made;
};
afterEach(async () => {
  for (const { hf } of open.splice(0)) await hf.close();
});

const REFUND = { payee: "eve", cents: 400 };
/** Every route that has data. */
const DATA = ["api/session", "api/inbox", "api/operations", "api/health", "api/changes", "metrics"];

async function held(of: ConsoleWorld) {
  const { id } = await of.tools.refund.outcome(REFUND, { scope: "chat-1" });
  const { questions } = await of.inbox();
  return { id, path: `api/operations/${id}`, digest: questions[0]?.digest };
}

describe("who is not let in", () => {
  const authorize = authorizeByToken("right", { name: "ana", mayDecide: true });

  test.each(DATA)("no token, another token, or the token in the wrong place: %s", async (route) => {
    const of = world({ authorize });
    const tries = [{}, { authorization: "Bearer wrong" }, { cookie: "token=right" }];
    for (const headers of tries) expect((await of.get(route, headers)).status).toBe(401);
    expect((await of.get(`${route}?token=right`)).status).toBe(401);
    const right = await of.get(route, { authorization: "Bearer right" });
    expect(right.status).toBe(200);
    await right.body?.cancel();
  });

  test("an answer without the token", async () => {
    const of = world({ authorize });
    const { id } = await of.tools.refund.outcome(REFUND, { scope: "s" });
    const { digest } = (await of.hf.approvals.get(id)) ?? {};
    expect((await of.post(`api/operations/${id}/approve`, { digest })).status).toBe(401);
    expect(await of.hf.approvals.get(id)).toMatchObject({ answered: false });
  });

  test("who may look and not decide", async () => {
    const of = world({ authorize: () => ({ name: "bob" }) });
    const { path, digest, id } = await held(of);
    for (const action of ["approve", "deny", "resolve", "look"]) {
      expect((await of.post(`${path}/${action}`, { digest })).status).toBe(403);
    }
    expect(await of.hf.approvals.get(id)).toMatchObject({ answered: false });
  });

  test("a name that the ledger would not take, told by authorize", async () => {
    const of = world({ authorize: () => ({ name: " ", mayDecide: true }) });
    expect((await of.get("api/inbox")).status).toBe(400);
  });
});

describe("other pages and other names", () => {
  test("an answer from another origin, from none, or that a form could send", async () => {
    const of = world();
    const { path, digest, id } = await held(of);
    const tries: Record<string, string | undefined>[] = [
      { origin: "https://evil.example" },
      { origin: `https://${HOST}.evil.example` },
      { origin: "null" },
      { origin: undefined },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "x-holdfire-console": undefined },
      { "content-type": "text/plain" },
      { "content-type": "application/x-www-form-urlencoded" },
    ];
    for (const headers of tries) {
      const { status } = await of.post(`${path}/approve`, { digest }, headers);
      expect(status, JSON.stringify(headers)).toBe(headers["content-type"] ? 415 : 403);
    }
    expect(await of.hf.approvals.get(id)).toMatchObject({ answered: false });
  });

  test("data for another page; a link from there opens the page alone", async () => {
    const of = world();
    const elsewhere = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" };
    expect((await of.get("api/inbox", elsewhere)).status).toBe(403);
    expect((await of.get("api/inbox", { origin: "https://evil.example" })).status).toBe(403);
    const link = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" };
    expect((await of.get("", link)).status).toBe(200);
  });

  test("another host name that leads here (DNS rebinding)", async () => {
    const of = world({ hosts: ["127.0.0.1:4321", "localhost:4321"] });
    for (const route of ["", "app.js", ...DATA]) {
      expect((await of.get(route)).status, route).toBe(421);
    }
  });

  test("the origin that browsers see, behind a proxy, is the one that counts", async () => {
    const of = world({ origin: "https://public.example" });
    const { path, digest } = await held(of);
    expect((await of.post(`${path}/approve`, { digest })).status).toBe(403);
    const own = { origin: "https://public.example" };
    expect((await of.post(`${path}/approve`, { digest }, own)).status).toBe(200);
  });

  test("a frame, an inline script, a sniffed type: forbidden by the headers of every response", async () => {
    const of = world();
    for (const route of ["", "app.js", "api/inbox", "metrics", "nowhere"]) {
      const { headers } = await of.get(route);
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*/);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test("other methods", async () => {
    const of = world();
    const { path } = await held(of);
    expect((await of.get(`${path}/approve`)).status).toBe(404);
    expect((await of.post(path, {})).status).toBe(404);
    expect((await of.post(`${path}/constructor`, {})).status).toBe(404);
  });
});

describe("what is shown", () => {
  test("a right-to-left override in a payee, and other hidden characters", async () => {
    const of = world();
    const payee = "acme\u202etxt.exe\u200b\u0000";
    await of.tools.pay.outcome({ payee }, { scope: "s\u202e" });
    await of.tools.refund.outcome({ payee, cents: 1 }, { scope: "t" });
    for (const route of ["api/inbox", "api/operations"]) {
      const text = await (await of.get(route)).text();
      expect(text).not.toMatch(/[\u202e\u200b]/);
      const told: unknown = JSON.parse(text);
      // Also once it is parsed: the page shows what it was told.
      expect(JSON.stringify(told)).not.toMatch(/[\u202e\u200b]/);
    }
    const { questions } = await of.inbox();
    expect(questions[0]?.args.text).toContain("acme\\u202etxt.exe\\u200b\\u0000");
    expect(questions[0]?.plan?.lines[0]?.text).toContain("balance/acme\\u{202e}txt.exe");
  });

  test("a tool whose name has 10,000 characters, with script in it", async () => {
    const store = memoryStore({ forgets: "accepted" });
    const of = world({ store, tenant: "acme" });
    const tool = `<script>alert(1)</script>${"x".repeat(10_000)}`;
    const id = Buffer.alloc(32, 7).toString("base64url");
    const record = recordOf({ id, tool, state: { tag: "unknown", reason: "lost_reply" } });
    await store.swap({ tenant: "acme", id, expect: 0, record, lease: "none" });
    for (const route of ["api/inbox", "api/operations", `api/operations/${id}`, "api/health"]) {
      const response = await of.get(route);
      expect(response.status).toBe(200);
      expect((await response.text()).length).toBeLessThan(6_000);
    }
    expect((await of.operations()).items[0]?.tool).toHaveLength(201);
    expect((await of.get(`api/operations?tool=${"x".repeat(10_000)}`)).status).toBe(400);
    expect((await of.get(`api/operations/${"x".repeat(10_000)}`)).status).toBe(404);
  });

  test("a huge result is not shown, and a huge argument is cut and said to be", async () => {
    const of = world();
    const big = "y".repeat(200_000);
    await of.tools.note({ text: big }, { scope: "s" });
    await of.tools.refund.outcome({ payee: big, cents: 1 }, { scope: "t" });
    const { questions } = await of.inbox();
    expect(questions[0]?.args.text).toHaveLength(20_000);
    expect(questions[0]?.args.leftOut).toBeGreaterThan(180_000);
    const { items } = await of.operations();
    for (const { id } of items) {
      const text = await (await of.get(`api/operations/${id}`)).text();
      expect(text.length).toBeLessThan(40_000);
    }
  });
});

describe("answers", () => {
  test("a replayed approve changes nothing", async () => {
    const of = world();
    const { path, digest } = await held(of);
    expect((await of.post(`${path}/approve`, { digest })).status).toBe(200);
    const again = await of.post(`${path}/approve`, { digest });
    expect(again.status).toBe(409);
    await of.tools.refund(REFUND, { scope: "chat-1" });
    expect((await of.post(`${path}/approve`, { digest })).status).toBe(409);
    expect((await of.tools.refund.outcome(REFUND, { scope: "chat-1" })).status).toBe("committed");
    expect(of.refunded).toHaveLength(1);
  });

  test("an approve after the question has expired", async () => {
    const of = world({ expiryMs: 1 });
    const { path, digest } = await held(of);
    while (Date.now() <= ((await of.inbox()).questions[0]?.expiresAt ?? 0)) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    const late = await of.post(`${path}/approve`, { digest });
    expect(late.status).toBe(409);
    expect((await problemIn(late)).error).toContain("has expired");
    await of.tools.refund.outcome(REFUND, { scope: "chat-1" });
    expect(of.refunded).toEqual([]);
  });

  test("an approve of another question, or of none", async () => {
    const of = world();
    const { path } = await held(of);
    for (const digest of ["other", "", undefined, 7, { toString: "x" }]) {
      expect((await of.post(`${path}/approve`, { digest })).status).toBe(409);
    }
  });

  test("bodies that are no answer", async () => {
    const of = world();
    const { path } = await held(of);
    const huge = JSON.stringify({ digest: "x".repeat(20_000) });
    for (const body of ["", "{", "[]", "null", '"yes"', huge]) {
      expect((await of.post(`${path}/approve`, body)).status, body.slice(0, 10)).toBe(400);
    }
  });

  test("an operation of another tenant is not there: not read, not answered", async () => {
    const store = memoryStore({ forgets: "accepted" });
    const [acme, other] = [world({ store, tenant: "acme" }), world({ store, tenant: "other" })];
    const { id, path, digest } = await held(acme);
    expect((await other.get(path)).status).toBe(404);
    expect((await other.post(`${path}/approve`, { digest })).status).toBe(404);
    expect((await other.post(`${path}/look`, {})).status).toBe(404);
    expect((await other.operations(`q=${id}`)).items).toEqual([]);
    expect((await other.inbox()).questions).toEqual([]);
    expect(await acme.hf.approvals.get(id)).toMatchObject({ answered: false });
  });

  test("one console shows each person their own tenant alone", async () => {
    const authorize = ({ headers }: Request) => {
      const tenant = headers.get("authorization") ?? "";
      return tenant ? { name: "ana", mayDecide: true, tenant } : undefined;
    };
    const of = world({ authorize, tenant: "acme" });
    const { id } = await of.tools.refund.outcome(REFUND, { scope: "s" });
    const path = `api/operations/${id}`;
    expect((await of.get(path, { authorization: "acme" })).status).toBe(200);
    expect((await of.get(path, { authorization: "other" })).status).toBe(404);
  });
});
