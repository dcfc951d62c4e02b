/**
 * Rows of the storm: clients that act on the world. What is retried is the tool around them.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import axios, { type AxiosInstance } from "axios";
import axiosRetry from "axios-retry";
import got, { type Got } from "got";
import ky, { type KyInstance } from "ky";
import { Octokit } from "octokit";
import Stripe from "stripe";
import { ownRetries as ownAws } from "../../src/integrations/aws/index.ts";
import { ownRetries as ownAxios } from "../../src/integrations/axios/index.ts";
import { ownRetries as ownGot } from "../../src/integrations/got/index.ts";
import { ownRetries as ownKy } from "../../src/integrations/ky/index.ts";
import { ownRetries as ownOctokit } from "../../src/integrations/octokit/index.ts";
import { ownRetries as ownStripe } from "../../src/integrations/stripe/index.ts";
import { guardedFetch } from "../../src/wire/guarded-fetch.ts";
import type { CountingServer } from "../../test/servers/counting-server.ts";
import { byTool, type Row } from "./rows.ts";

const stripe = ({ port, patienceMs }: CountingServer) =>
  new Stripe("sk_test_x", {
    ...{ host: "127.0.0.1", port, protocol: "http", telemetry: false },
    timeout: patienceMs,
  });
const charge = (client: Stripe, more?: Stripe.RequestOptions) =>
  client.charges.create({ amount: 1, currency: "usd" }, more);

const quiet = () => {};
/** Its queues are shared by id, and its pauses shortened; the counts are its own. */
const octokit = ({ url }: CountingServer) => ({
  baseUrl: url,
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  retry: { retryAfterBaseValue: 1 },
  throttle: { id: randomUUID(), onRateLimit: () => true, onSecondaryRateLimit: () => true },
});
const post = (client: Octokit, more: object = {}) =>
  client.request("POST /repos/{owner}/{repo}/dispatches", {
    ...{ owner: "a", repo: "b", event_type: "c" },
    ...more,
  });

const s3 = ({ url, patienceMs }: CountingServer) =>
  new S3Client({
    ...{ endpoint: url, region: "us-east-1", forcePathStyle: true },
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
    requestHandler: { requestTimeout: patienceMs, throwOnRequestTimeout: true },
  });
const put = (client: S3Client) =>
  client.send(new PutObjectCommand({ Bucket: "b", Key: "k", Body: "x" }));

const retrying = ({ url, patienceMs }: CountingServer) => {
  const client = axios.create({ baseURL: url, timeout: patienceMs });
  axiosRetry(client);
  return client;
};
const axiosPut = (client: AxiosInstance, more: object = {}) => client.put("/", {}, more);
const gotPut = (client: Got, { url, patienceMs }: CountingServer, more: object = {}) =>
  client.put(url, { json: {}, timeout: { request: patienceMs }, ...more }).text();
const kyPut = (client: KyInstance, { url, patienceMs }: CountingServer, more: object = {}) =>
  client.put(url, { json: {}, timeout: patienceMs, ...more }).text();

/** As people write it in the body of a tool. */
async function loop(
  fetch: typeof globalThis.fetch,
  { url, patienceMs }: CountingServer,
): Promise<void> {
  for (let left = 2; ; left -= 1) {
    try {
      const signal = AbortSignal.timeout(patienceMs);
      const { ok, status } = await fetch(url, { method: "POST", body: "{}", signal });
      if (ok) return;
      throw Object.assign(new Error("The service said no."), { status });
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}

export const fetchLoop = (server: CountingServer): Promise<void> => loop(globalThis.fetch, server);

export const SERVICES: readonly Row[] = [
  {
    name: "stripe",
    bare: (server) => charge(stripe(server)),
    owned: byTool((server, hf) => charge(ownStripe(stripe(server), hf))),
    asking: byTool((server, hf) => charge(ownStripe(stripe(server), hf), { maxNetworkRetries: 3 })),
  },
  {
    name: "octokit",
    failures: ["503", "reset"],
    bare: (server) => post(new Octokit(octokit(server))),
    owned: byTool((server, hf) => post(new Octokit(ownOctokit(octokit(server), hf)))),
    asking: byTool((server, hf) =>
      post(new Octokit(ownOctokit(octokit(server), hf)), { request: { retries: 3 } }),
    ),
  },
  {
    name: "aws-sdk S3",
    bare: (server) => put(s3(server)),
    owned: byTool((server, hf) => put(ownAws(s3(server), hf))),
  },
  {
    name: "axios-retry (PUT)",
    bare: (server) => axiosPut(retrying(server)),
    owned: byTool((server, hf) => axiosPut(ownAxios(retrying(server), hf))),
    asking: byTool((server, hf) =>
      axiosPut(ownAxios(retrying(server), hf), { "axios-retry": { retries: 3 } }),
    ),
  },
  {
    name: "got (PUT)",
    bare: (server) => gotPut(got, server),
    owned: byTool((server, hf) => gotPut(ownGot(got, hf), server)),
    asking: byTool((server, hf) => gotPut(ownGot(got, hf), server, { retry: { limit: 3 } })),
  },
  {
    name: "ky (PUT)",
    bare: (server) => kyPut(ky, server),
    owned: byTool((server, hf) => kyPut(ownKy(ky, hf), server)),
    asking: byTool((server, hf) => kyPut(ownKy(ky, hf), server, { retry: 3 })),
  },
  {
    name: "a loop around guardedFetch",
    bare: fetchLoop,
    owned: byTool((server) => loop(guardedFetch(), server)),
  },
];
