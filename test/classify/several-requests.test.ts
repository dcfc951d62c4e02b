/** What the requests of one attempt prove together, and what is noted beside the verdict. */
import { describe, expect, it } from "vitest";
import {
  type Ended,
  type JudgedRequest,
  type JudgeFacts,
  judge,
} from "../../src/classify/classify.ts";
import { notApplied } from "../../src/classify/not-applied.ts";
import { OutcomeUnknownError } from "../../src/errors.ts";

const HREF = "https://bank.example/payments";

const about = (requests: readonly JudgedRequest[], more: Partial<JudgeFacts> = {}): JudgeFacts => ({
  refuses: [],
  keyed: false,
  reader: false,
  viaHttp: false,
  now: 0,
  sight: { requests, isPartial: false },
  ...more,
});

const post = (status: number | undefined, href: string | undefined = HREF): JudgedRequest => ({
  status,
  method: "POST",
  href,
});

const value: Ended = { ok: true, value: { id: 1 } };
const threw = (error: unknown): Ended => ({ ok: false, error });
const response = (status: number): Ended => ({ ok: true, value: new Response(null, { status }) });

describe("a request that another layer sent again", () => {
  it.each([
    ["a 500", 500],
    ["no answer", undefined],
    ["a 429", 429],
  ])("did happen if, after %s, it was answered yes", (_, first) => {
    expect(judge(value, about([post(first), post(200)])).verdict).toBe("committed");
    expect(judge(value, about([post(first), post(first), post(200)])).verdict).toBe("committed");
    expect(judge(response(200), about([post(first), post(200)])).verdict).toBe("committed");
  });

  it.each<[string, readonly JudgedRequest[]]>([
    ["the yes was to another address", [post(500), post(200, `${HREF}/2`)]],
    ["the yes was to another method", [post(500), { ...post(200), method: "PUT" }]],
    ["the yes came before", [post(200), post(500)]],
    ["the later one was not answered", [post(500), post(undefined)]],
    ["the later one was answered no", [post(500), post(503)]],
    [
      "the addresses are not known",
      [
        { status: 500, method: "POST" },
        { status: 200, method: "POST" },
      ],
    ],
    ["only one of two was sent again", [post(500), post(500, `${HREF}/2`), post(200)]],
  ])("is in doubt if %s", (_, requests) => {
    expect(judge(value, about(requests))).toMatchObject({ verdict: "unknown", swallowed: true });
    expect(judge(response(200), about(requests))).toMatchObject({
      verdict: "unknown",
      swallowed: true,
    });
  });

  it("does not make a yes of what the tool itself calls a failure", () => {
    expect(judge(threw(new Error("no")), about([post(500), post(200)])).verdict).toBe("unknown");
  });
});

describe("several answers", () => {
  it("are work in progress if all are a yes, and one was only accepted", () => {
    for (const statuses of [
      [200, 202],
      [202, 200],
      [202, 202],
    ]) {
      const requests = statuses.map((status, at) => post(status, `${HREF}/${at}`));
      const judged = judge(value, about(requests, { reader: true }));
      expect(judged).toMatchObject({ verdict: "unknown", accepted: true });
    }
  });

  it("are no work in progress if one of them is a no", () => {
    const requests = [post(202), post(404, `${HREF}/2`)];
    const judged = judge(value, about(requests, { reader: true }));
    expect(judged.verdict).toBe("unknown");
    expect(judged.accepted).toBeUndefined();
  });

  it("prove a no if each is one, though with another status", () => {
    const error = Object.assign(new Error("no"), { status: 404 });
    const requests = [post(404), post(402, `${HREF}/2`)];
    expect(judge(threw(error), about(requests)).verdict).toBe("rejected");
  });

  it("prove nothing of a Response with a status that none of them has", () => {
    expect(judge(response(404), about([post(402)])).verdict).toBe("unknown");
    expect(judge(response(402), about([post(402)])).verdict).toBe("rejected");
  });
});

describe("what is noted beside a verdict", () => {
  it("a value in spite of an answered no is noted as swallowed, also where the no is proved", () => {
    const judged = judge(value, about([post(402)], { viaHttp: true }));
    expect(judged).toMatchObject({ verdict: "rejected", swallowed: true });
    expect(judge(value, about([post(200)])).swallowed).toBeUndefined();
  });

  it("the tool's own word is proven, whether it is of a Response or of an error", () => {
    const classify = () => "not_sent" as const;
    const proven = { verdict: "not_sent", proven: true };
    expect(judge(response(500), about([post(500)], { classify }))).toMatchObject(proven);
    expect(judge(threw(new Error("no")), about([post(500)], { classify }))).toMatchObject(proven);
  });

  it("notApplied() is a rejection, and proven, whatever was seen", () => {
    const error = notApplied("out of stock");
    for (const requests of [[], [post(500)], [post(undefined), post(200)]]) {
      expect(judge(threw(error), about(requests))).toMatchObject({
        verdict: "rejected",
        proven: true,
      });
    }
  });

  it("not_sent is proven only where all that the tool does was seen", () => {
    const error = { code: "ECONNREFUSED", syscall: "connect" };
    const unsent = [{ ...post(undefined), unsent: true, error }];
    for (const viaHttp of [true, false]) {
      expect(judge(threw(error), about(unsent, { viaHttp }))).toMatchObject({
        verdict: "not_sent",
        proven: viaHttp,
      });
    }
  });

  it("it failed untried if it made no request at all, and did not break off", () => {
    const viaHttp = true;
    const bug = threw(new TypeError("x is not a function"));
    const refused = { code: "ECONNREFUSED", syscall: "connect" };
    const unsent = [{ ...post(undefined), unsent: true, error: refused }];
    const untried = (ended: Ended, facts: JudgeFacts) => {
      const { verdict, untried: noted } = judge(ended, facts);
      expect(verdict).toBe("not_sent");
      return noted;
    };
    expect(untried(bug, about([], { viaHttp }))).toBe(true);
    expect(untried(bug, about([], { viaHttp, tried: true }))).toBeUndefined();
    expect(untried(threw(refused), about([], { viaHttp }))).toBeUndefined();
    const wrapped = threw(new Error("failed", { cause: refused }));
    expect(untried(wrapped, about(unsent, { viaHttp, tried: true }))).toBeUndefined();
    const own = new Error("no proxy");
    const refusedByOwn = [{ ...post(undefined), unsent: true, error: own }];
    expect(untried(threw(own), about(refusedByOwn, { viaHttp }))).toBeUndefined();
  });
});

describe("an error of an operation inside", () => {
  const inner = new OutcomeUnknownError({ tool: "t", id: "i", key: "k" }, "lost_reply");

  it("is no proof that nothing was sent, though no request was seen", () => {
    expect(judge(threw(inner), about([], { viaHttp: true })).verdict).toBe("unknown");
  });
});
