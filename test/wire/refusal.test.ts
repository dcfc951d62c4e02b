import { once } from "node:events";
import { createServer, request } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { request as undiciRequest } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createToken, runWithToken, wireFacts } from "../../src/wire/token.ts";

let arrivals = 0;
const server = createServer((_, response) => {
  arrivals += 1;
  response.end("ok");
});
const http2 = createHttp2Server((_, response) => {
  arrivals += 1;
  response.end("ok");
});
let url = "";
let http2Url = "";

beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  await once(http2.listen(0, "127.0.0.1"), "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  http2Url = `http://127.0.0.1:${(http2.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
  http2.close();
});

const refusal = new Error("not here");
const refusing = () => createToken({ operationId: "o", attempt: 1, refusal });

const CLIENTS: Record<string, () => Promise<unknown>> = {
  "native fetch": () => fetch(url, { method: "POST", body: "x" }),
  "undici's request": () => undiciRequest(url, { method: "POST", body: "x" }),
  "node:http": () =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method: "POST" }, resolve);
      sent.on("error", reject);
      sent.end("x");
    }),
  "node:http2": () =>
    new Promise((resolve, reject) => {
      const session = connect(http2Url).on("error", reject);
      const stream = session.request({ ":path": "/" });
      stream.on("response", resolve);
      stream.on("error", reject);
      stream.on("close", () => session.close());
      stream.end();
    }),
};

test.each(Object.keys(CLIENTS))("%s is refused before anything arrives", async (name) => {
  const send = CLIENTS[name] ?? (() => Promise.reject(new Error("no such client")));
  await send();
  const before = arrivals;
  const token = refusing();
  await expect(runWithToken(token, send)).rejects.toSatisfy(
    (error: Error) => error === refusal || error.cause === refusal,
  );
  expect(arrivals).toBe(before);
  expect(wireFacts(token).wireRequests).toBe(0);
  await send();
  expect(arrivals).toBe(before + 1);
});
