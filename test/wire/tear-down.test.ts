/** The writes of an attempt that are under way can be ended, by whatever client they were sent; what they have done stays open. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Agent, request as askByHttp, createServer } from "node:http";
import { connect, createServer as createHttp2Server } from "node:http2";
import { request as askByHttps, createServer as createTlsServer } from "node:https";
import { request as askByUndici, H2CClient } from "undici";
import { describe, expect, onTestFinished, test } from "vitest";
import { boundFetch } from "../../src/wire/bound-fetch.ts";
import {
  createToken,
  endToken,
  requestsOf,
  runWithToken,
  tearDown,
  type WireToken,
  wireFacts,
} from "../../src/wire/token.ts";
import { until } from "../engine/virtual-clock.ts";
import { selfSigned } from "./self-signed.ts";
import { listenOn } from "./servers.ts";

interface Incoming {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

interface Answer {
  once(event: "close", listener: () => void): unknown;
  writeHead(status: number): unknown;
  write(chunk: string): unknown;
  end(): unknown;
}

/** It begins to answer `/answered`, and leaves all else without an answer until it is told to go on. */
function openPeer() {
  const arrived: string[] = [];
  const hungUp: string[] = [];
  const open: Answer[] = [];
  const handle = ({ method, url }: Incoming, answer: Answer): void => {
    const name = `${method} ${url}`;
    arrived.push(name);
    answer.once("close", () => void hungUp.push(name));
    open.push(answer);
    if (url !== "/answered") return;
    answer.writeHead(201);
    answer.write("half");
  };
  const goOn = () => {
    for (const answer of open) answer.end();
  };
  return { arrived, hungUp, handle, goOn };
}

type Peer = ReturnType<typeof openPeer>;

/** Sends, and reads to the end. */
type Send = (url: string, method: string, token: WireToken) => Promise<unknown>;

const initOf = (method: string) => (method === "GET" ? { method } : { method, body: "{}" });

/** `half`: the rest of the body is never sent. */
const byCallbacks =
  (ask: typeof askByHttp | typeof askByHttps, half?: string): Send =>
  (url, method) =>
    new Promise((resolve, reject) => {
      const options = { method, rejectUnauthorized: false };
      const asked = ask(url, options, (response) => {
        response.once("error", reject).resume().once("end", resolve);
      }).on("error", reject);
      if (half === undefined || method === "GET") asked.end();
      else asked.write(half);
    });

const byHttp2: Send = (url, method) =>
  new Promise((resolve, reject) => {
    const { origin, pathname } = new URL(url);
    const session = connect(origin);
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":path": pathname, ":method": method });
    stream.on("error", reject).on("end", resolve).resume().end();
  });

const byUndiciOverHttp2: Send = async (url, method) => {
  const { origin, pathname } = new URL(url);
  const client = new H2CClient(origin);
  onTestFinished(() => client.destroy());
  const { body } = await client.request({ path: pathname, ...initOf(method) } as never);
  await body.text();
};

const http1 = ({ handle }: Peer) => createServer(handle);
const http2 = ({ handle }: Peer) => createHttp2Server(handle);
const https = ({ handle }: Peer) => createTlsServer(selfSigned(), handle);

async function open(serve: (peer: Peer) => Parameters<typeof listenOn>[0]) {
  const peer = openPeer();
  const port = await listenOn(serve(peer));
  const url = `${serve === https ? "https" : "http"}://localhost:${port}`;
  const time = { isOver: false };
  const terms = {
    ignores: () => false,
    mayStillSend: () => !time.isOver,
    onLate: () => {},
    onOtherWay: () => {},
  };
  const token = createToken({ operationId: url, attempt: 1, makeTerms: () => terms });
  onTestFinished(() => endToken(token));
  return { ...peer, url, port, time, token };
}

/** Node 24.0 has no channels for node:http2. */
const isSilent = process.versions.node.startsWith("24.0.");

const CLIENTS: [string, typeof http1 | typeof http2 | typeof https, Send][] = [
  ["fetch", http1, async (url, method) => (await fetch(url, initOf(method))).text()],
  [
    "context.fetch",
    http1,
    async (url, method, token) => (await boundFetch(token, fetch)(url, initOf(method))).text(),
  ],
  [
    "context.fetch with a signal of its own",
    http1,
    async (url, method, token) => {
      const { signal } = new AbortController();
      return (await boundFetch(token, fetch)(url, { ...initOf(method), signal })).text();
    },
  ],
  [
    "context.fetch with a Request",
    http1,
    async (url, method, token) =>
      (await boundFetch(token, fetch)(new Request(url, initOf(method)))).text(),
  ],
  [
    "undici",
    http1,
    async (url, method) => (await askByUndici(url, initOf(method) as never)).body.text(),
  ],
  ["undici over HTTP/2", http2, byUndiciOverHttp2],
  ["node:http", http1, byCallbacks(askByHttp)],
  ["node:http, with a body that is still being sent", http1, byCallbacks(askByHttp, "half")],
  ["node:https", https, byCallbacks(askByHttps)],
];
if (!isSilent) CLIENTS.push(["node:http2", http2, byHttp2]);

/** The error and its causes. */
const chainOf = (error: unknown): readonly unknown[] =>
  error instanceof Error ? [error, ...chainOf(error.cause)] : [];

describe.each(CLIENTS)("by %s", (_, serve, send) => {
  test("a write that is not answered is ended, and may have taken effect", async () => {
    const { url, arrived, hungUp, token } = await open(serve);
    const sent = runWithToken(token, () => send(`${url}/pay`, "POST", token));
    const error = sent.catch((thrown: unknown) => thrown);
    await until(() => arrived.length === 1);
    tearDown(token);
    expect(chainOf(await error)).toContainEqual(
      expect.objectContaining({ code: "ERR_HOLDFIRE_ATTEMPT_ENDED", wasSent: true }),
    );
    await expect.poll(() => hungUp).toEqual(["POST /pay"]);
    await token.counter?.quiet();
    expect(requestsOf(token)).toMatchObject([{ open: false }]);
    expect(wireFacts(token)).toMatchObject({ wireRequests: 1, unsent: false });
  });

  test("a write that is answered, and a read, are left alone", async () => {
    const { url, arrived, hungUp, goOn, token } = await open(serve);
    const both = runWithToken(token, () =>
      Promise.all([send(`${url}/answered`, "POST", token), send(`${url}/look`, "GET", token)]),
    );
    await until(() => arrived.length === 2 && requestsOf(token).some(({ status }) => status));
    tearDown(token);
    expect(hungUp).toEqual([]);
    goOn();
    await expect(both).resolves.toHaveLength(2);
  });
});

test("a `fetch` whose requests are not seen is told by its signal", async () => {
  const { token } = await open(http1);
  const unseen: typeof fetch = (_, init) =>
    new Promise((_resolve, reject) => {
      init?.signal?.addEventListener("abort", () => reject(init.signal?.reason));
    });
  const sent = boundFetch(token, unseen)("http://bank.test/pay", { method: "POST" });
  const error = sent.catch((thrown: unknown) => thrown);
  await new Promise((resolve) => setImmediate(resolve));
  tearDown(token);
  expect(await error).toMatchObject({ code: "ERR_HOLDFIRE_ATTEMPT_ENDED", wasSent: true });
  expect(wireFacts(token)).toMatchObject({ wireRequests: 1, unsent: false });
  expect(token.counter?.quiet()).toBeUndefined();
});

test("a `fetch` whose requests are not seen sends no write after the time, and reads on", async () => {
  const { time, token } = await open(http1);
  const sent: unknown[] = [];
  const unseen: typeof fetch = async (_, init) => {
    sent.push(init?.method);
    return new Response();
  };
  const own = boundFetch(token, unseen);
  time.isOver = true;
  const error = await own("http://bank.test/pay", { method: "POST" }).catch((thrown) => thrown);
  await own("http://bank.test/look", { method: "GET" });
  expect(error).toMatchObject({ code: "ERR_HOLDFIRE_ATTEMPT_ENDED", wasSent: false });
  expect(sent).toEqual(["GET"]);
  expect(requestsOf(token)).toMatchObject([{ method: "POST", unsent: true, error }, {}]);
});

test("a signal of another make is handed on as it is", async () => {
  const { token } = await open(http1);
  const signal = { aborted: false, throwIfAborted() {} } as AbortSignal;
  const given: unknown[] = [];
  const standIn: typeof fetch = async (_, init) => {
    given.push(init?.signal);
    return new Response();
  };
  await boundFetch(token, standIn)("http://bank.test/pay", { method: "POST", signal });
  expect(given).toEqual([signal]);
});

test("its caller's own signal still ends it, before the answer and after", async () => {
  const { url, arrived, token } = await open(http1);
  for (const path of ["/pay", "/answered"]) {
    const controller = new AbortController();
    const { signal } = controller;
    const own = boundFetch(token, fetch);
    const sent = own(url + path, { method: "POST", signal }).then((answer) => answer.text());
    const error = sent.catch((thrown: unknown) => thrown);
    await until(() => arrived.includes(`POST ${path}`));
    const isThere = () => requestsOf(token).some(({ status }) => status === 201);
    if (path === "/answered") await until(isThere);
    controller.abort(new RangeError("enough"));
    expect(await error).toBeInstanceOf(RangeError);
  }
});

test("what waits for a connection is left to wait, and stopped unsent when its turn comes", async () => {
  const { url, port, arrived, goOn, time, token } = await open(http1);
  const agent = new Agent({ maxSockets: 1, keepAlive: true });
  onTestFinished(() => agent.destroy());
  const ask = (path: string) =>
    new Promise<unknown>((resolve) => {
      const asked = askByHttp({ host: "localhost", port, agent, path, method: "POST" }, (answer) =>
        answer.resume().once("end", () => resolve(answer.statusCode)),
      );
      asked.on("error", resolve).end();
    });
  const other = ask("/other");
  await until(() => arrived.length === 1);
  const waiting = runWithToken(token, () => ask("/pay"));
  time.isOver = true;
  tearDown(token);
  expect(token.counter?.quiet()).toBeDefined();
  goOn();
  expect(await other).toBe(200);
  expect(await waiting).toMatchObject({ request: `POST ${url}/pay`, wasSent: false });
  expect(arrived).toEqual(["POST /other"]);
  expect(wireFacts(token)).toMatchObject({ unsent: true });
});

test.skipIf(isSilent)(
  "what waits for its turn on a full HTTP/2 session is never sent",
  async () => {
    const settings = { maxConcurrentStreams: 1 };
    const { url, arrived, goOn, token } = await open(({ handle }) =>
      createHttp2Server({ settings }, handle),
    );
    const session = connect(url);
    onTestFinished(() => session.destroy());
    const ask = (path: string) =>
      new Promise<unknown>((resolve, reject) => {
        const stream = session.request({ ":path": path, ":method": "POST" });
        stream.on("error", reject).on("end", resolve).resume().end();
      });
    const slow = ask("/slow");
    await until(() => arrived.length === 1);
    const error = runWithToken(token, () => ask("/pay")).catch((thrown: unknown) => thrown);
    tearDown(token);
    expect(await error).toMatchObject({ code: "ERR_HOLDFIRE_ATTEMPT_ENDED" });
    goOn();
    await slow;
    const last = ask("/last");
    await until(() => arrived.includes("POST /last"));
    goOn();
    await last;
    expect(arrived).toEqual(["POST /slow", "POST /last"]);
  },
);

test("an undici of before 5.28, whose requests cannot be aborted from outside, loses its socket", async () => {
  const { url, arrived, hungUp, token } = await open(http1);
  const channel = "undici:client:sendHeaders";
  const asBefore = (message: unknown) => {
    Object.assign((message as { readonly request: object }).request, { abort: undefined });
  };
  subscribe(channel, asBefore);
  onTestFinished(() => void unsubscribe(channel, asBefore));
  const sent = runWithToken(token, () => askByUndici(`${url}/pay`, { method: "POST" }));
  const error = sent.catch((thrown: unknown) => thrown);
  await until(() => arrived.length === 1);
  tearDown(token);
  expect(await error).toMatchObject({ code: "ERR_HOLDFIRE_ATTEMPT_ENDED", wasSent: true });
  await expect.poll(() => hungUp).toEqual(["POST /pay"]);
  expect(wireFacts(token)).toMatchObject({ unsent: false });
});

test("a client that fails when it is told does not keep the others from being ended", async () => {
  const { url, arrived, hungUp, token } = await open(http1);
  const broken = runWithToken(
    token,
    () =>
      new Promise<void>((resolve) => {
        const asked = askByHttp(`${url}/broken`, { method: "POST" });
        asked.on("error", () => resolve()).end();
        asked.destroy = () => {
          resolve();
          throw new Error("its own fault");
        };
      }),
  );
  const sent = runWithToken(token, () => byCallbacks(askByHttp)(`${url}/pay`, "POST", token));
  const ended = Promise.allSettled([broken, sent]);
  await until(() => arrived.length === 2);
  tearDown(token);
  await ended;
  await expect.poll(() => hungUp).toEqual(["POST /pay"]);
});
