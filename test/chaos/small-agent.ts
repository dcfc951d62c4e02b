/**
 * Small programs that send one write, each with another layer that may send it again: what `holdfire chaos` has to tell
 * apart.
 *
 *   node test/chaos/small-agent.ts LAYER http://127.0.0.1:PORT
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import http from "node:http";
import https from "node:https";
import type OpenAI from "openai";

const [, , layer = "", url = ""] = process.argv;
const payout = { payee: "ana", cents: 400 };
const body = JSON.stringify(payout);
const headers = { "content-type": "application/json" };

async function pay(): Promise<unknown> {
  const response = await fetch(`${url}/payouts`, { method: "POST", headers, body });
  if (!response.ok) throw new Error(`The bank answered ${response.status}.`);
  return response.json();
}

const payByHttp = (): Promise<void> =>
  new Promise((resolve, reject) => {
    const { request } = url.startsWith("https") ? https : http;
    request(`${url}/payouts`, { method: "POST", headers }, (response) => {
      response.resume().on("end", resolve).on("error", reject);
    })
      .on("error", reject)
      .end(body);
  });

async function payByUndici(): Promise<unknown> {
  const undici = await import("undici");
  const answer = await undici.request(`${url}/payouts`, { method: "POST", headers, body });
  return answer.body.json();
}

async function payInLoop(send: () => Promise<unknown>): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

async function openaiClient(): Promise<OpenAI> {
  const { OpenAI: Client } = await import("openai");
  return new Client({ apiKey: "-", baseURL: url, timeout: 2_000 });
}

const AGENTS: Readonly<Record<string, () => Promise<unknown>>> = {
  once: () => pay().catch(() => {}),
  own_loop: () => payInLoop(pay),
  own_loop_http: () => payInLoop(payByHttp),
  own_loop_undici: () => payInLoop(payByUndici),
  own_loop_tls: () => payInLoop(pay),
  own_loop_http_tls: () => payInLoop(payByHttp),
  own_loop_undici_tls: () => payInLoop(payByUndici),
  async own_loop_around_sdk() {
    const client = await openaiClient();
    await payInLoop(() => client.post("/payouts", { body: payout, maxRetries: 0 }));
  },
  async p_retry() {
    const { default: pRetry } = await import("p-retry");
    await pRetry(() => pay(), { retries: 2, minTimeout: 1 });
  },
  async cockatiel() {
    const { handleAll, retry } = await import("cockatiel");
    await retry(handleAll, { maxAttempts: 2 }).execute(() => pay());
  },
  async langgraph() {
    const { Annotation, END, START, StateGraph } = await import("@langchain/langgraph");
    const retryPolicy = { initialInterval: 1, jitter: false, logWarning: false };
    const graph = new StateGraph(Annotation.Root({ paid: Annotation<unknown> }))
      .addNode("pay", async () => ({ paid: await pay() }), { retryPolicy })
      .addEdge(START, "pay")
      .addEdge("pay", END)
      .compile();
    await graph.invoke({});
  },
  async openai_sdk() {
    const client = await openaiClient();
    await client.post("/payouts", { body: payout });
  },
  async axios_retry() {
    const { default: axios } = await import("axios");
    const { default: axiosRetry } = await import("axios-retry");
    const client = axios.create();
    axiosRetry(client, { retries: 2, retryCondition: () => true });
    await client.post(`${url}/payouts`, payout);
  },
  async got() {
    const { default: got } = await import("got");
    await got.put(`${url}/payouts`, { json: payout, retry: { limit: 1, backoffLimit: 1 } });
  },
  async stripe() {
    const { Stripe } = await import("stripe");
    const { hostname: host, port } = new URL(url);
    const stripe = new Stripe("sk_test_1", { host, port: Number(port), protocol: "http" });
    await stripe.refunds.create({ payment_intent: "pi_1" });
  },
  /** The same loop, and a ledger: the outcome of the first call is unknown, and the second one is held. */
  async guarded_loop() {
    const { createHoldfire } = await import("../../src/create.ts");
    const hf = createHoldfire({ app: "small-agent" });
    const guarded = hf.tool({ name: "pay", kind: "write", run: () => pay() as Promise<object> });
    await payInLoop(() => hf.scope("job-1", () => guarded({}))).catch(() => {});
    await hf.close();
  },
  /** Two payouts that look alike, and both are meant. */
  two_wanted: () => Promise.allSettled([pay(), pay()]),
  /** What a supervisor does with a process that has failed. */
  async restart() {
    for (const _ of [1, 2]) {
      const { status } = spawnSync(process.execPath, [import.meta.filename, "fails", url]);
      if (status === 0) return;
    }
  },
  fails: () => pay(),
  /** Only reads, and asks for a token. */
  async no_write() {
    await fetch(url);
    const form = new URLSearchParams({ grant_type: "client_credentials" });
    await fetch(`${url}/token`, { method: "POST", body: form });
  },
};

await AGENTS[layer]?.();
