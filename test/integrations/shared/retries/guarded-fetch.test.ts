/** `guardedFetch` inside clients whose own retries are left on: the last wall. */
import Anthropic from "@anthropic-ai/sdk";
import { Octokit } from "octokit";
import OpenAI from "openai";
import Stripe from "stripe";
import { describe, expect, it } from "vitest";
import { guardedFetch } from "../../../../src/wire/guarded-fetch.ts";
import { type CountingServer, FAILURES, type Failure } from "../../../servers/counting-server.ts";
import { heard, openHoldfire, serve } from "../owning.ts";

const fetch = guardedFetch();
const quiet = () => {};
const messages = [{ role: "user" as const, content: "hi" }];

type Calls = Readonly<
  Record<string, { retries: number; call: (server: CountingServer) => Promise<unknown> }>
>;

const calls: Calls = {
  openai: {
    retries: 2,
    call: ({ url, patienceMs }) =>
      new OpenAI({ apiKey: "x", baseURL: url, timeout: patienceMs, fetch }).chat.completions.create(
        {
          model: "m",
          messages,
        },
      ),
  },
  anthropic: {
    retries: 2,
    call: ({ url, patienceMs }) =>
      new Anthropic({ apiKey: "x", baseURL: url, timeout: patienceMs, fetch }).messages.create({
        model: "m",
        max_tokens: 5,
        messages,
      }),
  },
  stripe: {
    retries: 2,
    call: ({ port, patienceMs }) =>
      new Stripe("sk_test_x", {
        ...{ host: "127.0.0.1", port, protocol: "http", telemetry: false },
        timeout: patienceMs,
        httpClient: Stripe.createFetchHttpClient(fetch),
      }).charges.create({ amount: 1, currency: "usd" }),
  },
  octokit: {
    retries: 3,
    call: ({ url, patienceMs }) =>
      new Octokit({
        baseUrl: url,
        log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
        retry: { retryAfterBaseValue: 1 },
        throttle: { enabled: false },
        request: { fetch },
      }).request("POST /things", { request: { signal: AbortSignal.timeout(10 * patienceMs) } }),
  },
};

const cases = Object.entries(calls).flatMap(([name, { retries, call }]) =>
  FAILURES.filter((failure) => name !== "octokit" || failure !== "hang").map(
    (failure): [string, Failure, number, (server: CountingServer) => Promise<unknown>] => [
      name,
      failure,
      retries,
      call,
    ],
  ),
);

describe.each(cases)("%s, when the service fails by %s", (_, failure, retries, call) => {
  it("is one request, and the outcome speaks of its answer", async () => {
    const hf = openHoldfire();
    const hidden = heard(hf, "warning", "hidden_retry");
    const server = await serve(failure);
    const tool = hf.tool({
      name: "act",
      kind: "write",
      attemptTimeoutMs: 20_000,
      refuses: [503],
      attempts: 1,
      run: async (_: object) => void (await call(server)),
    });
    const outcome = await tool.outcome({}, { scope: "job" });
    expect(server.arrivals).toHaveLength(1);
    expect(outcome).toMatchObject({
      wireRequests: 1,
      // A refusal is believed only of the one answer that came.
      status: failure === "503" ? "not_applied" : "unknown",
    });
    expect(hidden).toMatchObject([{ method: "POST", count: 1, refused: retries }]);
  });
});
