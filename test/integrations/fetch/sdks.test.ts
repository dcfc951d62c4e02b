/** The guarded fetch inside real SDKs, whose own retries are left on: one logical write, one effect. */
import { Octokit } from "octokit";
import OpenAI, { toFile } from "openai";
import Stripe from "stripe";
import { describe, expect, it } from "vitest";
import type { Fetch, FetchOptions } from "../../../src/integrations/fetch/index.ts";
import { type Answer, type CountingServer, json } from "../../servers/counting-server.ts";
import { keyed, keysOf, openFetch, reset } from "./stage.ts";

const quiet = () => {};

type Call = (server: CountingServer, fetch: Fetch) => Promise<unknown>;

const CALLS: Readonly<Record<string, Call>> = {
  "openai, JSON": ({ url }, fetch) =>
    new OpenAI({ apiKey: "x", baseURL: url, fetch }).vectorStores.create({ name: "n" }),
  "openai, a form": async ({ url }, fetch) =>
    new OpenAI({ apiKey: "x", baseURL: url, fetch }).files.create({
      file: await toFile(Buffer.from("text"), "a.txt"),
      purpose: "assistants",
    }),
  stripe: ({ port }, fetch) =>
    new Stripe("sk_test_x", {
      ...{ host: "127.0.0.1", port, protocol: "http", telemetry: false },
      httpClient: Stripe.createFetchHttpClient(fetch),
    }).charges.create({ amount: 1, currency: "usd" }),
  octokit: ({ url }, fetch) =>
    new Octokit({
      baseUrl: url,
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      retry: { retryAfterBaseValue: 1 },
      throttle: { enabled: false },
      request: { fetch },
    }).request("POST /things", { title: "t" }),
};

/** A service that remembers keys, does it once for each, and loses its first replies. */
function forgetful(replies: number): { readonly effects: Set<unknown>; readonly answer: Answer } {
  const effects = new Set<unknown>();
  return {
    effects,
    answer: (response, { headers }, nth) => {
      effects.add(headers["idempotency-key"]);
      if (nth <= replies) return response.socket?.destroy();
      const body = JSON.stringify({ id: "thing_1", object: "thing" });
      return response.writeHead(201, { "content-type": "application/json" }).end(body);
    },
  };
}

const options: FetchOptions = { callerKey: "replace" };

describe.each(Object.entries(CALLS))("%s", (_, call) => {
  it("a lost reply of a keyed service is one effect, and the SDK gets its answer", async () => {
    const { effects, answer } = forgetful(1);
    const { hf, server, fetch } = await openFetch(answer, { ...options, keyed });
    const result = await hf.scope("job", () => call(server, fetch));
    expect(result).toMatchObject(
      "status" in (result as object) ? { data: { id: "thing_1" } } : { id: "thing_1" },
    );
    expect(effects.size).toBe(1);
    expect(server.arrivals).toHaveLength(2);
  });

  it("the same call again in the scope is answered from the record", async () => {
    const { effects, answer } = forgetful(0);
    const { hf, server, fetch } = await openFetch(answer, options);
    for (let time = 0; time < 2; time += 1) await hf.scope("job", () => call(server, fetch));
    expect(effects.size).toBe(1);
    expect(server.arrivals).toHaveLength(1);
    await hf.scope("another job", () => call(server, fetch));
    expect(effects.size).toBe(2);
  });

  it.each(["throw", "respond"] as const)(
    "the hidden retries of a lost reply are answered from the record (%s)",
    async (failures) => {
      const { hf, server, fetch } = await openFetch(reset, { ...options, failures });
      let calls = 0;
      const counted: Fetch = (...args) => {
        calls += 1;
        return fetch(...args);
      };
      await expect(hf.scope("job", () => call(server, counted))).rejects.toThrow();
      expect(server.arrivals).toHaveLength(1);
      if (failures === "throw") expect(calls).toBeGreaterThan(1);
    },
  );

  it("a no is an error of the SDK, also from the record", async () => {
    const { hf, server, fetch } = await openFetch(
      json({ error: { type: "card_error", message: "no" }, message: "no" }, 404),
      options,
    );
    for (let time = 0; time < 2; time += 1) {
      await expect(hf.scope("job", () => call(server, fetch))).rejects.toSatisfy(
        (error: { status?: number; statusCode?: number }) =>
          (error.status ?? error.statusCode) === 404,
      );
    }
    expect(server.arrivals).toHaveLength(1);
  });

  it("a service that always fails has one key", async () => {
    const { hf, server, fetch } = await openFetch(reset, {
      ...options,
      keyed,
      failures: "respond",
    });
    await expect(hf.scope("job", () => call(server, fetch))).rejects.toThrow();
    expect(new Set(keysOf(server)).size).toBe(1);
  });
});

it.each(["openai, JSON", "openai, a form", "stripe"])(
  "%s obeys the response that asks not to be retried: as many requests as attempts",
  async (name) => {
    const { hf, server, fetch } = await openFetch(reset, {
      ...{ ...options, keyed, failures: "respond", attempts: 2 },
    });
    await expect(hf.scope("job", async () => CALLS[name]?.(server, fetch))).rejects.toMatchObject(
      name === "stripe" ? { statusCode: 409 } : { status: 409 },
    );
    expect(server.arrivals).toHaveLength(2);
  },
);

describe("the same write for two accounts", () => {
  const accounts = ["acct_a", "acct_b", "acct_a"];

  it("is two, where a header names the account, and the same account again is one", async () => {
    const { effects, answer } = forgetful(0);
    const { hf, server, fetch } = await openFetch(answer, options);
    const stripe = new Stripe("sk_test_x", {
      ...{ host: "127.0.0.1", port: server.port, protocol: "http", telemetry: false },
      httpClient: Stripe.createFetchHttpClient(fetch),
    });
    const payOut = (stripeAccount: string) =>
      stripe.payouts.create({ amount: 1, currency: "usd" }, { stripeAccount });
    for (const account of accounts) await hf.scope("job", () => payOut(account));
    expect(server.arrivals.map(({ headers }) => headers["stripe-account"])).toEqual([
      "acct_a",
      "acct_b",
    ]);
    expect(effects.size).toBe(2);
  });

  it("is one with another trace or token", async () => {
    const { effects, answer } = forgetful(0);
    const { hf, server, fetch } = await openFetch(answer, options);
    for (const value of accounts) {
      const headers = { "x-cloud-trace-context": value, authorization: `Bearer ${value}` };
      await hf.scope("job", () => fetch(server.url, { method: "POST", headers, body: "{}" }));
    }
    expect(effects.size).toBe(1);
  });
});
