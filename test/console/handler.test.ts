/** What the console tells and takes, as a function from a request to a response. */
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { type ConsoleWorld, consoleWorld, problemIn } from "./console-world.ts";

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

async function held(of: ConsoleWorld, scope = "chat-1") {
  const outcome = await of.tools.refund.outcome(REFUND, { scope });
  expect(outcome.status).toBe("held");
  const { questions } = await of.inbox();
  const question = questions.find(({ operation }) => operation.id === outcome.id);
  if (!question) throw new Error("The question is not in the inbox.");
  return question;
}

describe("the inbox", () => {
  test("shows a question whole, with what else is unknown in its scope", async () => {
    const of = world();
    await of.tools.post.outcome({ text: "hello" }, { scope: "chat-1" });
    const question = await held(of);
    expect(question).toMatchObject({
      operation: { tool: "refund_payment", scope: "chat-1", status: "held" },
      why: "it is destructive",
      canBeShown: true,
      alsoDoes: ["e-mails the customer"],
      alsoUnknown: [{ tool: "post_message", intent: '{"text":"hello"}' }],
    });
    expect(JSON.parse(question.args.text)).toEqual(REFUND);
    expect(question.plan?.lines[0]).toEqual({ sign: "#", text: "update balance/eve" });
    const { unknowns, consequences } = await of.inbox();
    expect(unknowns).toMatchObject([{ operation: { tool: "post_message" }, canLook: false }]);
    expect(Object.keys(consequences)).toEqual([
      "approve",
      "deny",
      "committed",
      "not_applied",
      "look",
    ]);
  });

  test("a yes lets the waiting call run once, under the name that authorize told", async () => {
    const of = world();
    const { operation, digest } = await held(of);
    const waiting = of.hf.approvals.wait(operation.id);
    const answer = { digest, note: "checked", by: "mallory", name: "mallory" };
    const given = await of.post(`api/operations/${operation.id}/approve`, answer);
    expect(given.status).toBe(200);
    expect(await waiting).toMatchObject({ status: "approved", by: "ana" });
    const outcomes = await Promise.all([
      of.tools.refund.outcome(REFUND, { scope: "chat-1" }),
      of.tools.refund.outcome(REFUND, { scope: "chat-1" }),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["committed", "committed"]);
    expect(of.refunded).toEqual([REFUND]);
    expect((await of.inbox()).questions).toEqual([]);
  });

  test("a no is final", async () => {
    const of = world();
    const { operation, digest } = await held(of);
    const path = `api/operations/${operation.id}`;
    expect((await of.post(`${path}/deny`, { digest, note: "not ours" })).status).toBe(200);
    const again = await of.post(`${path}/approve`, { digest });
    expect(again.status).toBe(409);
    expect((await problemIn(again)).error).toContain("a denial is final");
    expect(await of.tools.refund.outcome(REFUND, { scope: "chat-1" })).toMatchObject({
      status: "denied",
    });
    expect(of.refunded).toEqual([]);
  });

  test("an unknown is settled three ways", async () => {
    const of = world();
    const lose = async (payee: string) => {
      const { id, status } = await of.tools.pay.outcome({ payee }, { scope: payee });
      expect(status).toBe("unknown");
      return { id, path: `api/operations/${id}`, asOf: (await of.detail(id)).unknown?.asOf };
    };
    const [first, second, third] = [await lose("a"), await lose("b"), await lose("c")];
    of.there.add("c");
    const yes = { as: "committed", asOf: first.asOf, note: "seen in the dashboard" };
    expect((await of.post(`${first.path}/resolve`, yes)).status).toBe(200);
    const no = { as: "not_applied", asOf: second.asOf };
    expect((await of.post(`${second.path}/resolve`, no)).status).toBe(200);
    expect((await of.post(`${third.path}/look`, {})).status).toBe(200);
    const statuses = [first, second, third].map(async ({ id }) => (await of.detail(id)).operation);
    expect(await Promise.all(statuses)).toMatchObject([
      { status: "committed" },
      { status: "not_applied", reason: "resolved" },
      { status: "committed" },
    ]);
    const { timeline } = await of.detail(first.id);
    expect(timeline.at(-1)?.what).toBe(
      'committed (by a person\'s answer, by ana): "seen in the dashboard"',
    );
  });

  test("of two answers at once one counts, and the other is told so", async () => {
    const of = world();
    const { id } = await of.tools.post.outcome({ text: "x" }, { scope: "s" });
    const { unknown } = await of.detail(id);
    const answers = await Promise.all(
      ["committed", "not_applied"].map((as) =>
        of.post(`api/operations/${id}/resolve`, { as, asOf: unknown?.asOf }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test("an answer to an older state is refused", async () => {
    const of = world();
    const { id } = await of.tools.post.outcome({ text: "x" }, { scope: "s" });
    const { unknown } = await of.detail(id);
    const asOf = (unknown?.asOf ?? 0) - 1;
    const given = await of.post(`api/operations/${id}/resolve`, { as: "committed", asOf });
    expect(given.status).toBe(409);
    expect((await problemIn(given)).error).toContain("has changed since you read it");
  });
});

describe("operations", () => {
  test("are listed the newest first, page by page, each once", async () => {
    const of = world();
    for (let n = 0; n < 120; n += 1) await of.tools.note({ text: `${n}` }, { scope: `s-${n}` });
    const seen: string[] = [];
    let query = "";
    for (let pages = 0; pages < 3; pages += 1) {
      const page = await of.operations(query);
      seen.push(...page.items.map(({ scope }) => scope));
      query = page.cursor === undefined ? "end" : `cursor=${encodeURIComponent(page.cursor)}`;
    }
    expect(query).toBe("end");
    expect(seen).toEqual(Array.from({ length: 120 }, (_, n) => `s-${119 - n}`));
  });

  test("are found by id, key, scope, tool call, part of a name, and filtered", async () => {
    const of = world();
    const aliases = ["call_0123456789abcdef"];
    const paid = await of.tools.pay.outcome({ payee: "eve" }, { scope: "chat-1", aliases });
    const before = (await of.detail(paid.id)).operation.createdAt;
    const noted = await of.tools.note.outcome({ text: "x" }, { scope: "chat-2" });
    const idsOf = async (query: Record<string, string>) =>
      (await of.operations(String(new URLSearchParams(query)))).items.map(({ id }) => id);
    for (const q of [paid.id, paid.key, "chat-1", aliases[0] ?? "", "PAY_", paid.key.slice(0, 8)]) {
      expect(await idsOf({ q }), q).toEqual([paid.id]);
    }
    expect(await idsOf({ tool: "write_note" })).toEqual([noted.id]);
    expect(await idsOf({ status: "unknown" })).toEqual([paid.id]);
    expect(await idsOf({ scope: "chat-2" })).toEqual([noted.id]);
    expect(await idsOf({ status: "committed", scope: "chat-1" })).toEqual([]);
    expect(await idsOf({ until: `${before}` })).toEqual([]);
    expect(await idsOf({ since: `${before}` })).toEqual([noted.id, paid.id]);
    expect(await idsOf({ q: "nothing of the kind" })).toEqual([]);
    const wrong = await of.get("api/operations?status=gone");
    expect(wrong.status).toBe(400);
  });

  test("one is told with its timeline, its attempts and the licence in words", async () => {
    const of = world();
    const { id } = await of.tools.pay.outcome({ payee: "eve" }, { scope: "s" });
    const detail = await of.detail(id);
    expect(detail.attempts).toMatchObject([
      { n: 1, claim: 1, licence: "first", licenceWords: "first send", verdict: "unknown" },
    ]);
    expect(detail.timeline.map(({ kind }) => kind)).toEqual(["made", "fired", "ended", "state"]);
    expect(detail.facts).toContainEqual(["intent", '{"payee":"eve"}']);
    expect(detail.unknown).toMatchObject({ canLook: true, evidence: 0 });
  });

  test("changes are told to all who follow, and the ledger is left alone when the last leaves", async () => {
    const of = world();
    const [one, other] = [await of.get("api/changes"), await of.get("api/changes")];
    const readers = [one, other].map(({ body }) => body?.pipeThrough(new TextDecoderStream()));
    const texts = ["", ""];
    const until = async (n: 0 | 1, text: string) => {
      const reader = readers[n]?.getReader();
      while (reader && !texts[n]?.includes(text)) texts[n] += (await reader.read()).value ?? "";
      reader?.releaseLock();
    };
    await until(0, "event: ready");
    await until(1, "event: ready");
    const { id } = await of.tools.note.outcome({ text: "x" }, { scope: "s" });
    await until(0, id);
    await until(1, id);
    expect(texts[0]).toContain("event: changed");
    for (const reader of readers) await reader?.cancel();
  });
});

describe("health", () => {
  test("counts what was made, and is the same as Prometheus text", async () => {
    const of = world();
    await of.tools.note({ text: "x" }, { scope: "s" });
    await of.tools.post.outcome({ text: "x" }, { scope: "s" });
    const health = await (await of.get("api/health?hours=1")).json();
    expect(health).toMatchObject({
      looked: 2,
      complete: true,
      unknownRate: 0.5,
      open: { byStatus: { unknown: 1 }, oldestUnknown: { tool: "post_message" } },
      firedTimes: [{ times: "1", operations: 2 }, {}, {}, {}],
    });
    const metrics = await of.get("metrics");
    expect(metrics.headers.get("content-type")).toContain("version=0.0.4");
    const text = await metrics.text();
    expect(text).toContain('holdfire_ledger_day_operations{status="committed"} 1\n');
    expect(text).toContain("holdfire_ledger_day_unknown_ratio 0.5\n");
    expect(text).toMatch(/^(?:(?:# (?:HELP|TYPE) )?holdfire_ledger_\w+(?:\{[^}]*\})? [^\n]+\n)+$/);
    expect((await of.get("api/health?hours=0.5")).status).toBe(400);
  });
});

describe("the page", () => {
  test("is served with its files, and nothing else is there", async () => {
    const of = world({ path: "/admin/holdfire/" });
    expect((await of.get("admin/holdfire")).headers.get("location")).toBe("/admin/holdfire/");
    const page = await of.get("admin/holdfire/");
    expect(await page.text()).toContain('<script type="module" src="app.js">');
    const script = await of.get("admin/holdfire/app.js");
    expect(script.headers.get("content-type")).toContain("text/javascript");
    const etag = script.headers.get("etag") ?? "";
    expect((await of.get("admin/holdfire/app.js", { "if-none-match": etag })).status).toBe(304);
    for (const path of ["", "app.js", "admin/holdfire/../app.js", "admin/holdfire/package.json"]) {
      expect((await of.get(path)).status, path).toBe(404);
    }
  });

  test("is small, and names nothing outside of it", async () => {
    const of = world();
    const texts = await Promise.all(
      ["", "app.js", "app.css"].map(async (path) => (await of.get(path)).text()),
    );
    expect(texts.map((text) => text.length > 500)).toEqual([true, true, true]);
    const compressed = texts.reduce((sum, text) => sum + gzipSync(text).byteLength, 0);
    expect(compressed).toBeLessThan(200 * 1024);
    const addresses = texts.join("\n").match(/https?:\/\/[\w.-]+/g) ?? [];
    // Names of XML, not places.
    expect(addresses.filter((address) => !address.endsWith("www.w3.org"))).toEqual([]);
  });

  test("tells who looks, and at what", async () => {
    const of = world({ authorize: () => ({ name: "bob" }) });
    expect(await of.session()).toMatchObject({
      person: "bob",
      mayDecide: false,
      tenant: "default",
      ledger: "memory",
    });
  });
});
