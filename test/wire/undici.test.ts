import { createServer as createHttpServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { createServer as createTlsServer } from "node:https";
import { connect, createServer } from "node:net";
import {
  Agent,
  Client,
  H2CClient,
  interceptors,
  ProxyAgent,
  RetryAgent,
  request,
  fetch as undiciFetch,
} from "undici";
import { describe, expect, it, onTestFinished } from "vitest";
import { currentToken, repeats, requestsOf, wireFacts } from "../../src/wire/token.ts";
import { selfSigned } from "./self-signed.ts";
import { attempt, closedPort, listenOn, startService } from "./servers.ts";

const EMPTY_REPLY = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

/** Lives as long as the test. */
function lasting<D extends { destroy(): Promise<void> }>(dispatcher: D): D {
  onTestFinished(() => dispatcher.destroy());
  return dispatcher;
}

describe.each([
  ["native fetch", fetch],
  ["fetch of npm undici", undiciFetch as unknown as typeof fetch],
] as const)("%s", (_, anyFetch) => {
  it("counts a GET and a POST as one request each", async () => {
    const service = await startService((__, response) => response.writeHead(201).end());
    for (const method of ["GET", "POST"]) {
      const { token } = await attempt(async () =>
        (await anyFetch(`${service.url}/x?secret=1`, { method })).text(),
      );
      expect(requestsOf(token)).toMatchObject([
        { transport: "undici", origin: service.url, method, path: "/x", status: 201 },
      ]);
      expect(wireFacts(token)).toEqual({ wireRequests: 1, hops: 0, unsent: false, answered: 201 });
    }
  });

  it.each([302, 303, 307, 308])(
    "counts a followed %i as one request with its hop",
    async (status) => {
      const service = await startService((incoming, response) =>
        incoming.url === "/from"
          ? response.writeHead(status, { location: "/to?x=1" }).end()
          : response.writeHead(404).end(),
      );
      const { token } = await attempt(() =>
        anyFetch(`${service.url}/from`, { method: "POST", body: "b" }),
      );
      expect(service.arrived).toHaveLength(2);
      const kept = status >= 307;
      expect(wireFacts(token)).toEqual({
        wireRequests: 1,
        hops: 1,
        unsent: false,
        answered: kept ? 404 : status,
      });
      expect(requestsOf(token)[1]).toMatchObject({ method: kept ? "POST" : "GET", hopOf: 0 });
      expect(repeats(token)).toEqual([]);
    },
  );

  it("counts on its own token what goes over a socket opened under another", async () => {
    const service = await startService((__, response) => response.end("x"));
    const first = await attempt(async () => (await anyFetch(`${service.url}/1`)).text());
    await (await anyFetch(`${service.url}/none`)).text();
    const second = await attempt(async () => (await anyFetch(`${service.url}/2`)).text());
    expect(requestsOf(first.token).map(({ path }) => path)).toEqual(["/1"]);
    expect(requestsOf(second.token).map(({ path }) => path)).toEqual(["/2"]);
  });

  it("is unsent when nobody listens", async () => {
    const port = await closedPort();
    const { token, error } = await attempt(() => anyFetch(`http://127.0.0.1:${port}/`));
    expect(error).toBeInstanceOf(TypeError);
    expect(wireFacts(token)).toMatchObject({ wireRequests: 1, unsent: true });
  });

  it("is not unsent when the connection is reset", async () => {
    const service = await startService((incoming) => incoming.socket.destroy());
    const { token, error } = await attempt(() => anyFetch(service.url, { method: "POST" }));
    expect(error).toBeInstanceOf(TypeError);
    expect(service.arrived).toHaveLength(1);
    expect(wireFacts(token)).toMatchObject({ wireRequests: 1, unsent: false });
  });

  it("is unsent when the certificate is not trusted, and nothing arrives", async () => {
    let arrived = 0;
    const port = await listenOn(createTlsServer(selfSigned(), () => (arrived += 1)));
    const { token } = await attempt(() =>
      anyFetch(`https://127.0.0.1:${port}/`, { method: "POST", body: "b" }),
    );
    expect(wireFacts(token)).toMatchObject({ wireRequests: 1, unsent: true });
    expect(arrived).toBe(0);
  });

  it("is not unsent when a redirect leads to where nobody listens", async () => {
    const port = await closedPort();
    const service = await startService((__, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end(),
    );
    const { token } = await attempt(() => anyFetch(service.url, { method: "POST", body: "b" }));
    expect(wireFacts(token)).toMatchObject({ wireRequests: 1, hops: 1, unsent: false });
  });
});

describe("npm undici", () => {
  it("tells queued requests on one connection apart", async () => {
    const service = await startService((_, response) => response.end("x"));
    const dispatcher = lasting(new Agent({ connections: 1 }));
    for (const round of [1, 2]) {
      const paths = Array.from({ length: 6 }, (_, i) => `/${round}/${i}`);
      const runs = await Promise.all(
        paths.map((path) =>
          attempt(async () => {
            const { body } = await request(service.url + path, { dispatcher });
            await body.text();
          }),
        ),
      );
      expect(runs.map(({ token }) => requestsOf(token).map(({ path }) => path))).toEqual(
        paths.map((path) => [path]),
      );
    }
  });

  it.each([
    ["answers 503", false],
    ["resets the connection", true],
  ])("finds the hidden retries of a RetryAgent when the service %s", async (_, resets) => {
    const service = await startService((incoming, response, nth) => {
      if (incoming.url === "/warm" || nth === 4) response.end("x");
      else if (resets) incoming.socket.destroy();
      else response.writeHead(503).end();
    });
    const agent = lasting(new Agent({ connections: 1 }));
    const dispatcher = new RetryAgent(agent, { minTimeout: 1, maxRetries: 5 });
    // The socket is opened under another token, and its events come in that token's context.
    const warm = await attempt(async () => {
      const { body } = await request(`${service.url}/warm`, { dispatcher: agent });
      await body.text();
    });
    const { token } = await attempt(async () => {
      const { body } = await request(`${service.url}/pay`, {
        dispatcher,
        method: "PUT",
        body: "b",
      });
      await body.text();
    });
    expect(service.arrived).toHaveLength(4);
    expect(wireFacts(warm.token).wireRequests).toBe(1);
    expect(wireFacts(token).wireRequests).toBe(3);
    expect(repeats(token)).toEqual([
      { origin: service.url, method: "PUT", path: "/pay", count: 3 },
    ]);
  });

  it("counts no retry of a request made outside on the token whose socket it uses", async () => {
    const service = await startService((incoming, response, nth) => {
      response.writeHead(incoming.url === "/warm" || nth === 3 ? 200 : 503).end("x");
    });
    const agent = lasting(new Agent({ connections: 1 }));
    const { token } = await attempt(async () => {
      const { body } = await request(`${service.url}/warm`, { dispatcher: agent });
      await body.text();
    });
    const { body } = await request(`${service.url}/outside`, {
      dispatcher: new RetryAgent(agent, { minTimeout: 1 }),
    });
    await body.text();
    expect(service.arrived).toHaveLength(3);
    expect(wireFacts(token).wireRequests).toBe(1);
  });

  it("counts the hops of the redirect interceptor on the request's own token", async () => {
    const service = await startService((incoming, response) =>
      incoming.url === "/from"
        ? response.writeHead(302, { location: "/to" }).end()
        : response.end("x"),
    );
    const agent = lasting(new Agent({ connections: 1 }));
    const warm = await attempt(async () => {
      const { body } = await request(`${service.url}/warm`, { dispatcher: agent });
      await body.text();
    });
    const { token } = await attempt(async () => {
      const dispatcher = agent.compose(interceptors.redirect({ maxRedirections: 1 }));
      const { body } = await request(`${service.url}/from`, { dispatcher });
      await body.text();
    });
    expect(wireFacts(warm.token).wireRequests).toBe(1);
    expect(wireFacts(token)).toMatchObject({ wireRequests: 1, hops: 1, answered: 200 });
  });

  it("leaves the context of somebody who aborts another's request as it is", async () => {
    const stop = new AbortController();
    const service = await startService(() => stop.abort());
    const slow = attempt(() => fetch(service.url, { signal: stop.signal }));
    const seen = new Promise((resolve) => {
      stop.signal.addEventListener("abort", () => resolve(currentToken()));
    });
    const { token } = await slow;
    expect(wireFacts(token).wireRequests).toBe(1);
    expect(await seen).toBeUndefined();
    const second = new AbortController();
    const hung = attempt(() => request(service.url, { signal: second.signal }));
    const { token: other, value } = await attempt(async () => {
      second.abort();
      return currentToken();
    });
    expect(value).toBe(other);
    await hung;
  });

  it("counts a request over HTTP/2 once", async () => {
    const server = createHttp2Server((_, response) => response.writeHead(404).end());
    const port = await listenOn(server);
    const client = lasting(new H2CClient(`http://127.0.0.1:${port}`));
    const { token } = await attempt(async () => {
      const { body } = await client.request({ method: "POST", path: "/x", body: "b" });
      await body.text();
    });
    expect(requestsOf(token)).toMatchObject([{ transport: "undici", path: "/x", status: 404 }]);
    expect(wireFacts(token)).toMatchObject({ wireRequests: 1, answered: 404 });
  });

  it("counts what a client sends again by itself after a pipeline broke", async () => {
    const arrived: string[] = [];
    // The first connection dies once both requests are in; undici sends the second one again.
    const server = createServer((socket) => {
      const isFirst = arrived.length === 0;
      socket
        .on("error", () => {})
        .on("data", (data) => {
          for (const [, path = ""] of String(data).matchAll(/GET (\S+)/g)) arrived.push(path);
          if (isFirst && arrived.includes("/second")) socket.destroy();
          else if (!arrived.includes("/first") || !isFirst) socket.write(EMPTY_REPLY);
        });
    });
    const port = await listenOn(server);
    const client = lasting(new Client(`http://127.0.0.1:${port}`, { pipelining: 2 }));
    const get = async (path: string) => {
      const { body } = await client.request({ method: "GET", path, blocking: false });
      await body.text();
    };
    await get("/warm");
    const [first, second] = await Promise.all(
      ["/first", "/second"].map((path) => attempt(() => get(path))),
    );
    expect(arrived).toEqual(["/warm", "/first", "/second", "/second"]);
    expect(first?.error).toBeDefined();
    expect(first && wireFacts(first.token).wireRequests).toBe(1);
    expect(second && repeats(second.token)).toMatchObject([{ path: "/second", count: 2 }]);
  });

  it("counts a request through a tunnel once, without its CONNECT", async () => {
    const service = await startService((_, response) => response.end("x"));
    const proxy = createHttpServer().on("connect", (_, socket) => {
      const upstream = connect(service.port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on("error", () => socket.destroy());
      socket.on("error", () => upstream.destroy());
    });
    const port = await listenOn(proxy);
    const dispatcher = lasting(
      new ProxyAgent({ uri: `http://127.0.0.1:${port}`, proxyTunnel: true }),
    );
    const { token } = await attempt(async () => {
      const { body } = await request(`${service.url}/x`, { dispatcher });
      await body.text();
    });
    expect(service.arrived).toEqual(["GET /x"]);
    expect(requestsOf(token)).toMatchObject([{ method: "GET", path: "/x", status: 200 }]);
  });
});
