import fc from "fast-check";
import { Agent, RetryAgent, request } from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Ended, type JudgeFacts, judge } from "../../src/classify/classify.ts";
import { OutcomeUnknownError } from "../../src/errors.ts";
import type { Verdict } from "../../src/reasons.ts";
import { sightOf } from "../../src/wire/token.ts";
import { attempt, closedPort, startService } from "../wire/servers.ts";
import { HOSTILE } from "./hostile.ts";

const NOW = Date.UTC(2026, 0, 1);

const tool = { refuses: [], keyed: false, reader: false, viaHttp: false, now: NOW };

interface Told extends Partial<JudgeFacts> {
  /** How many such requests there were. */
  readonly times?: number;
  readonly hopOf?: number;
  readonly unsent?: boolean;
  readonly isPartial?: boolean;
}

/** One request that was answered so. */
const once = (
  status: number | undefined,
  { times = 1, hopOf, unsent, isPartial = false, ...more }: Told = {},
): JudgeFacts => {
  const one = { status, hopOf, unsent, error: unsent ? refused : undefined };
  const requests = Array.from({ length: times }, () => one);
  return { ...tool, sight: { requests, isPartial }, ...more };
};

const threw = (error: unknown): Ended => ({ ok: false, error });
const gave = (value: unknown): Ended => ({ ok: true, value });
const refused = { code: "ECONNREFUSED", syscall: "connect" };

/** Runs `fn` as an attempt, and judges its ending by what the wire saw. */
async function judged(fn: () => Promise<unknown>, more: Partial<JudgeFacts> = {}) {
  const run = await attempt(fn);
  const ended = "error" in run ? threw(run.error) : gave(run.value);
  const viaHttp = more.viaHttp ?? false;
  return judge(ended, { ...tool, sight: sightOf(run.token, viaHttp), ...more });
}

describe("judging a tool that is via http, and of which only reads were seen", () => {
  type Read = NonNullable<JudgeFacts["sight"]["reads"]>[number];
  const reading = (...reads: Read[]): JudgeFacts => ({
    ...tool,
    viaHttp: true,
    sight: { requests: [], reads, isPartial: false },
  });
  const failed = threw(new Error("broken"));
  const [lost, found, gone, down] = [undefined, 200, 404, 503].map((status) => ({ status }));

  it("knows nothing if one that got out was lost, or its answer proves nothing", () => {
    for (const doubtful of [lost, down]) {
      const about = reading({ ...found }, { ...doubtful });
      expect(judge(failed, about)).toMatchObject({ verdict: "unknown" });
      for (const value of [{}, new Response()]) {
        expect(judge(gave(value), about)).toMatchObject({ verdict: "unknown", swallowed: true });
      }
    }
  });

  it("takes a no for a no if `run` threw, and leaves it to `run` otherwise", () => {
    const about = reading({ ...gone });
    expect(judge(failed, about)).toMatchObject({ verdict: "rejected", status: 404 });
    for (const value of [{}, new Response()]) {
      expect(judge(gave(value), about).verdict).toBe("committed");
    }
  });

  it("knows that nothing was sent if each was answered, at last, or never got out", () => {
    const asked = { method: "GET", href: "http://a.example/" };
    for (const about of [
      reading({ ...found }),
      reading({ ...asked, ...down }, { ...asked, ...found }),
      reading({ unsent: true, error: refused }, { unsent: true, error: refused }),
    ]) {
      expect(judge(failed, about)).toMatchObject({ verdict: "not_sent", proven: true });
      expect(judge(gave({}), about).verdict).toBe("committed");
    }
  });

  it("looks at no read beside a write, nor without that promise", () => {
    const reads = [{ ...down }];
    const wrote = { requests: [{ status: 200 }], reads, isPartial: false };
    expect(judge(gave({}), { ...tool, viaHttp: true, sight: wrote }).verdict).toBe("committed");
    expect(judge(gave({}), { ...reading(...reads), viaHttp: false }).verdict).toBe("committed");
  });
});

describe("judging a returned value", () => {
  const VALUES = [undefined, null, 1, { status: 500 }, "no"];

  it.each(VALUES)(
    "takes %j for a commit where the service said yes, or nothing was seen",
    (value) => {
      for (const about of [
        once(200, { times: 0 }),
        once(200),
        once(303),
        once(204, { times: 2 }),
        once(404, { accepts: [404] }),
        once(202),
        once(200, { isPartial: true }),
      ]) {
        expect(judge(gave(value), about).verdict).toBe("committed");
      }
    },
  );

  it.each([400, 401, 402, 404, 409, 429, 500, 503, 302, undefined])(
    "does not take a value for a commit after an answered %s",
    (status) => {
      const doubt = { verdict: "unknown", status, swallowed: true };
      for (const value of VALUES) expect(judge(gave(value), once(status))).toEqual(doubt);
      const response = new Response(null, { status: 200 });
      expect(judge(gave(response), once(status))).toMatchObject({ verdict: "unknown" });
    },
  );

  it("takes an answered no for one where all goes through the attempt's own fetch", () => {
    const viaHttp = true;
    expect(judge(gave({}), once(402, { viaHttp }))).toMatchObject({ verdict: "rejected" });
    const refuses = [429];
    expect(judge(gave({}), once(429, { viaHttp, refuses })).verdict).toBe("refused");
    expect(judge(gave({}), once(503, { viaHttp })).verdict).toBe("unknown");
    expect(judge(gave({}), once(402, { viaHttp, isPartial: true })).verdict).toBe("unknown");
  });

  it("takes a value after a 202 with a reader for work in progress", () => {
    const about = once(202, { reader: true });
    expect(judge(gave({}), about)).toMatchObject({ verdict: "unknown", accepted: true });
  });

  it("takes a 2xx Response for a commit, if nothing else was answered", () => {
    for (const times of [0, 1, 2]) {
      const judgement = judge(gave(new Response(null, { status: 201 })), once(200, { times }));
      expect(judgement).toMatchObject({ verdict: "committed", status: 201 });
    }
  });

  it("takes a 202 with a reader for work in progress", () => {
    const response = new Response(null, { status: 202, headers: { "retry-after": "5" } });
    expect(judge(gave(response), once(202, { reader: true }))).toMatchObject({
      verdict: "unknown",
      accepted: true,
      retryAfterMs: 5_000,
    });
  });

  it("judges a Response by its status if the wire saw that one answer", () => {
    const response = new Response(null, { status: 404 });
    expect(judge(gave(response), once(404)).verdict).toBe("rejected");
    expect(judge(gave(response), once(404, { times: 0 })).verdict).toBe("unknown");
    expect(judge(gave(response), once(404, { times: 2 })).verdict).toBe("rejected");
    expect(judge(gave(response), once(404, { isPartial: true })).verdict).toBe("unknown");
    expect(judge(gave(response), once(200)).verdict).toBe("unknown");
    expect(judge(gave(response), once(undefined)).verdict).toBe("unknown");
  });

  it("knows nothing of an errored Response", () => {
    expect(judge(gave(Response.error()), once(undefined)).verdict).toBe("unknown");
  });

  it("asks the tool about a Response that is no success, and only then", () => {
    const asked: unknown[] = [];
    const classify = (answer: unknown): Verdict => {
      asked.push(answer);
      return "refused";
    };
    const no = new Response(null, { status: 500 });
    expect(judge(gave(no), once(500, { classify, times: 3 })).verdict).toBe("refused");
    expect(judge(gave(new Response()), once(200, { classify })).verdict).toBe("committed");
    expect(judge(gave({}), once(200, { classify })).verdict).toBe("committed");
    expect(asked).toEqual([no]);
  });

  it("notes that the service replayed its stored answer", () => {
    const replay = new Response(null, { headers: { "Idempotent-Replayed": "true" } });
    expect(judge(gave(replay), once(200)).replayed).toBe(true);
    const fresh = new Response(null, { headers: { "idempotent-replayed": "false" } });
    expect(judge(gave(fresh), once(200)).replayed).toBeUndefined();
  });
});

describe("judging a thrown error by its status", () => {
  it("believes a no only if all requests were answered so on the wire", () => {
    for (const error of [{ status: 404 }, new Error("HTTP 404"), "no"]) {
      expect(judge(threw(error), once(404))).toMatchObject({ verdict: "rejected", status: 404 });
      expect(judge(threw(error), once(404, { hopOf: 0 })).verdict).toBe("rejected");
      expect(judge(threw(error), once(404, { times: 2 })).verdict).toBe("rejected");
    }
    expect(judge(threw({ status: 402 }), once(402)).verdict).toBe("rejected");
    for (const about of [
      once(404, { times: 0 }),
      once(404, { isPartial: true }),
      once(403),
      once(201),
      once(undefined),
    ]) {
      expect(judge(threw({ status: 404 }), about).verdict).toBe("unknown");
    }
  });

  it("does not believe a no of an attempt that was given up", () => {
    for (const error of [
      new DOMException("", "AbortError"),
      new DOMException("", "TimeoutError"),
      new Error("x", { cause: { code: "ECONNRESET" } }),
      { code: "ERR_CANCELED" },
    ]) {
      expect(judge(threw(error), once(404)).verdict).toBe("unknown");
    }
  });

  it("takes a failed precondition for a no, where it is believed", () => {
    expect(judge(threw({ status: 412 }), once(412)).verdict).toBe("rejected");
    const doubted = judge(threw({ status: 412 }), once(412, { isPartial: true }));
    expect(doubted).toMatchObject({ verdict: "unknown", status: 412 });
  });

  it("believes a declared refusal, with its Retry-After", () => {
    const error = { status: 429, headers: { "retry-after": "2" }, code: "rate_limited" };
    expect(judge(threw(error), once(429, { refuses: [429] }))).toMatchObject({
      verdict: "refused",
      status: 429,
      code: "rate_limited",
      retryAfterMs: 2_000,
    });
    expect(judge(threw(error), once(429)).verdict).toBe("unknown");
    const partial = once(429, { refuses: [429], isPartial: true });
    expect(judge(threw(error), partial).verdict).toBe("unknown");
  });

  it("takes a key error of a keyed tool for nothing", () => {
    const error = { statusCode: 400, raw: { type: "idempotency_error" } };
    expect(judge(threw(error), once(400, { keyed: true })).verdict).toBe("unknown");
    expect(judge(threw(error), once(400)).verdict).toBe("rejected");
    expect(judge(threw({ status: 400 }), once(400, { keyed: true })).verdict).toBe("rejected");
    expect(judge(threw({ status: 422 }), once(422, { keyed: true })).verdict).toBe("unknown");
  });

  it("does not take an error that carries a success for a commit", () => {
    expect(judge(threw({ response: { status: 200 } }), once(200))).toMatchObject({
      verdict: "unknown",
      status: 200,
    });
    expect(judge(threw({ status: 202 }), once(202, { reader: true })).verdict).toBe("unknown");
  });

  it("takes no status from a client that made it up: the wire heard no answer", () => {
    const lost = Object.assign(new Error("lost"), { status: 500 });
    expect(judge(threw(lost), once(undefined)).status).toBeUndefined();
    expect(judge(threw(lost), once(500)).status).toBe(500);
    expect(judge(threw(lost), once(undefined, { times: 0 })).status).toBe(500);
    const unsent = Object.assign(new Error("unreachable", { cause: refused }), { status: 500 });
    const never = once(undefined, { unsent: true });
    expect(judge(threw(unsent), never)).toMatchObject({ verdict: "not_sent" });
  });

  it("proves nothing by a 409, a 5xx or a redirect", () => {
    for (const status of [302, 304, 408, 409, 425, 429, 500, 502, 503, 504]) {
      expect(judge(threw({ status }), once(status)).verdict).toBe("unknown");
    }
  });
});

describe("judging a network failure", () => {
  it("believes not_sent only of one request, without hops, that never left, and of its very error", () => {
    expect(judge(threw(refused), once(undefined, { unsent: true }))).toMatchObject({
      verdict: "not_sent",
      code: "ECONNREFUSED",
    });
    for (const more of [
      { unsent: false },
      { unsent: true, times: 0 },
      { unsent: true, times: 2 },
      { unsent: true, hopOf: 0 },
      { unsent: true, isPartial: true },
    ]) {
      expect(judge(threw(refused), once(undefined, more)).verdict).toBe("unknown");
    }
    expect(judge(threw({ ...refused }), once(undefined, { unsent: true })).verdict).toBe("unknown");
  });

  it("knows that nothing was sent where all goes through the attempt's own fetch", () => {
    const viaHttp = true;
    const bug = new ReferenceError("x is not defined");
    expect(judge(threw(bug), once(200, { viaHttp, times: 0 })).verdict).toBe("not_sent");
    expect(judge(threw(bug), once(200, { viaHttp })).verdict).toBe("unknown");
    expect(judge(threw(bug), once(200, { times: 0 })).verdict).toBe("unknown");
  });

  it("does not believe it of any other error, even if nothing left", () => {
    for (const error of [new Error("x"), { code: "ECONNRESET" }, "refused"]) {
      expect(judge(threw(error), once(undefined, { unsent: true })).verdict).toBe("unknown");
    }
  });
});

describe("the tool's own opinion", () => {
  it.each(["committed", "not_sent", "refused", "rejected", "unknown"] as const)(
    "wins with %s, whatever the status and the count",
    (verdict) => {
      const classify = () => verdict;
      expect(judge(threw({ status: 404 }), once(404, { classify })).verdict).toBe(verdict);
      expect(judge(threw(refused), once(undefined, { classify, times: 0 })).verdict).toBe(verdict);
    },
  );

  it("is asked with the error itself", () => {
    const error = new Error("x");
    const classify = (asked: unknown): Verdict => (asked === error ? "rejected" : "unknown");
    expect(judge(threw(error), once(undefined, { classify })).verdict).toBe("rejected");
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("x");
      },
    ],
    ["has none", () => undefined],
    ["says nonsense", () => "maybe"],
    ["says an object", () => ({ verdict: "rejected" })],
    ["is asynchronous", async () => "committed"],
    ["rejects", () => Promise.reject(new Error("x"))],
  ] as [string, () => unknown][])("is none where the tool %s", async (_, classify) => {
    const about = once(404, { classify: classify as () => Verdict });
    expect(judge(threw({ status: 404 }), about).verdict).toBe("rejected");
    await new Promise(setImmediate);
  });
});

describe("the failure of an inner operation", () => {
  const inner = new OutcomeUnknownError({ tool: "t", id: "i", key: "k" }, "lost_reply");

  it("proves nothing here, whatever the tool says, also when wrapped", () => {
    for (const error of [inner, new Error("wrapped", { cause: inner })]) {
      const about = once(409, { refuses: [409], classify: () => "rejected" });
      expect(judge(threw(error), about)).toMatchObject({
        verdict: "unknown",
        code: "ERR_HOLDFIRE_OUTCOME_UNKNOWN",
      });
      const unseen = once(409, { viaHttp: true, times: 0 });
      expect(judge(threw(error), unseen).verdict).toBe("unknown");
    }
  });
});

describe("hostile values", () => {
  it.each(HOSTILE)("%s, thrown, proves nothing", (_, value) => {
    expect(judge(threw(value), once(undefined, { unsent: true })).verdict).toBe("unknown");
  });

  it.each(HOSTILE)("%s, returned, is a result", (_, value) => {
    expect(judge(gave(value), once(200)).verdict).toBe("committed");
  });

  it("survives anything thrown", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (value) => {
        const { verdict } = judge(threw(value), once(undefined));
        expect(verdict).toBe("unknown");
      }),
      { seed: 7 },
    );
  });
});

describe("judging real attempts", () => {
  it("tells refused, reset, no and yes apart", async () => {
    const service = await startService((incoming, response) => {
      if (incoming.url === "/reset") incoming.socket.destroy();
      else response.writeHead(Number(incoming.url?.slice(1))).end();
    });
    const post = (url: string) => () => fetch(url, { method: "POST" });
    const closed = `http://127.0.0.1:${await closedPort()}/`;
    expect((await judged(post(closed))).verdict).toBe("not_sent");
    expect((await judged(post(`${service.url}/reset`))).verdict).toBe("unknown");
    expect((await judged(post(`${service.url}/404`))).verdict).toBe("rejected");
    expect((await judged(post(`${service.url}/503`))).verdict).toBe("unknown");
    expect((await judged(post(`${service.url}/201`))).verdict).toBe("committed");
    expect((await judged(post(`${service.url}/429`), { refuses: [429] })).verdict).toBe("refused");
  });

  it("does not believe a no after a hidden retry", async () => {
    const service = await startService((_, response, nth) => {
      response.writeHead(nth === 1 ? 503 : 404).end();
    });
    const agent = new Agent();
    onTestFinished(() => agent.destroy());
    const dispatcher = new RetryAgent(agent, { minTimeout: 1 });
    const judgement = await judged(async () => {
      const { statusCode } = await request(service.url, { dispatcher, method: "PUT", body: "b" });
      throw Object.assign(new Error("no"), { statusCode });
    });
    expect(service.arrived).toHaveLength(2);
    expect(judgement).toMatchObject({ verdict: "unknown", status: 404 });
  });

  it("does not believe a refused connection that came after a success", async () => {
    const service = await startService((_, response) => response.writeHead(201).end());
    const port = await closedPort();
    const judgement = await judged(async () => {
      await fetch(service.url, { method: "POST" });
      const { connect } = await import("node:net");
      await new Promise((_, reject) => connect(port, "127.0.0.1").on("error", reject));
    });
    expect(judgement).toMatchObject({ verdict: "unknown", code: "ECONNREFUSED" });
  });

  it("does not believe a refused redirect target", async () => {
    const location = `http://127.0.0.1:${await closedPort()}/`;
    const service = await startService((_, response) =>
      response.writeHead(307, { location }).end(),
    );
    const judgement = await judged(() => fetch(service.url, { method: "POST", body: "b" }));
    expect(judgement).toMatchObject({ verdict: "unknown", code: "ECONNREFUSED" });
  });

  it("does not take the 404 of the page after a POST for the POST's", async () => {
    const service = await startService((incoming, response) =>
      incoming.method === "POST"
        ? response.writeHead(303, { location: "/gone" }).end()
        : response.writeHead(404).end(),
    );
    const judgement = await judged(() => fetch(service.url, { method: "POST" }));
    expect(judgement).toMatchObject({ verdict: "unknown", status: 404 });
  });

  it("does not believe a tool's own 404 after the service said yes", async () => {
    const service = await startService((_, response) => response.writeHead(201).end());
    const judgement = await judged(async () => {
      await fetch(service.url, { method: "POST" });
      throw Object.assign(new Error("no such customer"), { status: 404 });
    });
    expect(judgement.verdict).toBe("unknown");
  });

  it("does not believe anything over a transport nobody counts", async () => {
    expect((await judged(async () => Promise.reject({ status: 404 }))).verdict).toBe("unknown");
    expect((await judged(async () => Promise.reject(refused))).verdict).toBe("unknown");
  });
});
