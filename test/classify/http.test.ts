import { describe, expect, it } from "vitest";
import { isRetryableRead, verdictOfStatus } from "../../src/classify/http.ts";

const plain = { refuses: [], keyed: false, reader: false };
const REJECTED = [400, 401, 402, 403, 404, 405, 410, 412, 413, 414, 415, 422, 428, 431, 451];
const ALL = Array.from({ length: 500 }, (_, i) => i + 100);

describe("verdictOfStatus", () => {
  it("judges every status from 100 to 599 as the table says", () => {
    for (const status of ALL) {
      const expected =
        (status >= 200 && status <= 299) || status === 303
          ? { verdict: "committed" }
          : { verdict: REJECTED.includes(status) ? "rejected" : "unknown" };
      expect({ status, ...verdictOfStatus(status, plain) }).toEqual({ status, ...expected });
    }
  });

  it("takes a 202 with a reader for work in progress, and every other success for done", () => {
    const reader = { ...plain, reader: true };
    expect(verdictOfStatus(202, reader)).toEqual({ verdict: "unknown", accepted: true });
    expect(verdictOfStatus(201, reader)).toEqual({ verdict: "committed" });
    expect(verdictOfStatus(202, plain)).toEqual({ verdict: "committed" });
  });

  it("takes the tool's word for a refusal, but never against a success", () => {
    const about = { ...plain, keyed: true, refuses: [429, 503, 404, 412, 422, 200] };
    for (const status of [429, 503, 404, 412, 422]) {
      expect(verdictOfStatus(status, about)).toEqual({ verdict: "refused" });
    }
    expect(verdictOfStatus(200, about)).toEqual({ verdict: "committed" });
    expect(verdictOfStatus(500, about)).toEqual({ verdict: "unknown" });
  });

  it("takes a keyed tool's 422 for nothing, and its 400 only with a key error", () => {
    const keyed = { ...plain, keyed: true };
    expect(verdictOfStatus(422, keyed).verdict).toBe("unknown");
    expect(verdictOfStatus(400, keyed).verdict).toBe("rejected");
    expect(verdictOfStatus(400, { ...keyed, keyError: true }).verdict).toBe("unknown");
    expect(verdictOfStatus(404, { ...keyed, keyError: true }).verdict).toBe("rejected");
    expect(verdictOfStatus(400, { ...plain, keyError: true }).verdict).toBe("rejected");
  });

  it("takes what is no status for nothing", () => {
    for (const status of [Number.NaN, 0, -200, 600, 1e9]) {
      expect(verdictOfStatus(status, plain)).toEqual({ verdict: "unknown" });
    }
  });
});

describe("isRetryableRead", () => {
  it("is so for 408, 409, 425, 429 and all 5xx, and nothing else", () => {
    const retryable = [...ALL, 0, 600, Number.NaN].filter(isRetryableRead);
    expect(retryable).toEqual([408, 409, 425, 429, ...ALL.filter((status) => status >= 500)]);
  });
});
