/**
 * What `guardedFetch` costs a request: next to a bare fetch on the loopback, in turns, as a ratio.
 *
 * @module
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { guardedFetch } from "../src/wire/guarded-fetch.ts";
import { createToken, runWithToken } from "../src/wire/token.ts";

const ROUNDS = 200;
const REQUESTS = 20;

const server = createServer((request, response) => {
  request.resume().once("end", () => response.end("{}"));
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const body = JSON.stringify({ text: "x".repeat(1_000) });

/** Microseconds a request, each under a token of its own where there is one. */
async function measure(fetch: typeof globalThis.fetch, isAttempt: boolean): Promise<number> {
  const send = async () => (await fetch(url, { method: "POST", body })).text();
  const began = performance.now();
  for (let n = 0; n < REQUESTS; n += 1) {
    if (isAttempt) await runWithToken(createToken({ operationId: "bench", attempt: n }), send);
    else await send();
  }
  return ((performance.now() - began) * 1_000) / REQUESTS;
}

const guarded = guardedFetch();
const kinds = {
  "bare fetch": () => measure(fetch, false),
  "under a token": () => measure(fetch, true),
  "guarded, under a token": () => measure(guarded, true),
};

// One round to warm up; then in turns, so that a busy moment hits all.
for (const run of Object.values(kinds)) await run();
const samples = Object.values(kinds).map((): number[] => []);
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [index, run] of Object.values(kinds).entries()) samples[index]?.push(await run());
}
server.closeAllConnections();
server.close();

/** Of a machine that has other things to do, the better quarter tells more than the middle. */
const quartile = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 4)] ?? Number.NaN;
const costs = samples.map(quartile);
const [bare = Number.NaN] = costs;
for (const [index, name] of Object.keys(kinds).entries()) {
  const micros = costs[index] ?? Number.NaN;
  const ratio = (micros / bare).toFixed(2);
  console.log(`${name}: ${micros.toFixed(0)} µs a request, ${ratio} × bare`);
}
