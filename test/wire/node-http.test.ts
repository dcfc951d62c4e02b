import { Agent, type IncomingMessage, type RequestOptions, request } from "node:http";
import { createServer as createTlsServer, request as requestTls } from "node:https";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { repeats, requestsOf, wireFacts } from "../../src/wire/token.ts";
import { selfSigned } from "./self-signed.ts";
import { attempt, closedPort, listenOn, startService } from "./servers.ts";

/** One request by callbacks, as older clients make it. */
function send(options: RequestOptions, body = ""): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const make = options.protocol === "https:" ? requestTls : request;
    make({ host: "127.0.0.1", ...options }, (response) => {
      response.resume().once("end", () => resolve(response));
    })
      .on("error", reject)
      .end(body);
  });
}

function keepAlive(maxSockets: number): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets });
  onTestFinished(() => agent.destroy());
  return agent;
}

describe("node:http", () => {
  it("counts a request once and notes its status", async () => {
    const { url, port } = await startService((_, response) => response.writeHead(422).end());
    const { token } = await attempt(() => send({ port, method: "PUT", path: "/x?secret=1" }, "b"));
    expect(requestsOf(token)).toMatchObject([
      { transport: "http", origin: url, method: "PUT", path: "/x", status: 422 },
    ]);
    expect(wireFacts(token)).toEqual({ wireRequests: 1, hops: 0, unsent: false, answered: 422 });
  });

  it("counts a request whose body was never finished", async () => {
    const { port } = await startService((_, response) => response.end());
    const { token } = await attempt(
      () =>
        new Promise<void>((resolve) => {
          const open = request({ port, host: "127.0.0.1", method: "POST" });
          open.on("error", () => resolve()).write("half", () => open.destroy(new Error("stop")));
        }),
    );
    expect(wireFacts(token)).toMatchObject({ wireRequests: 1, unsent: false });
  });

  it("counts on its own token what goes over a socket opened under another", async () => {
    const { port, arrived } = await startService((_, response) => response.writeHead(503).end("x"));
    const agent = keepAlive(1);
    const first = await attempt(() => send({ port, agent, path: "/1" }));
    const second = await attempt(async () => {
      await send({ port, agent, path: "/2" });
      await send({ port, agent, path: "/2" });
    });
    expect(arrived).toHaveLength(3);
    expect(wireFacts(first.token).wireRequests).toBe(1);
    expect(repeats(second.token)).toMatchObject([{ path: "/2", count: 2 }]);
  });

  it("finds a retry made in an error listener, on a socket opened under another token", async () => {
    const { port } = await startService((incoming, response, nth) => {
      if (nth === 2) incoming.socket.destroy();
      else response.end("x");
    });
    const agent = keepAlive(1);
    const warm = await attempt(() => send({ port, agent, path: "/warm" }));
    const { token } = await attempt(
      () =>
        new Promise<void>((resolve) => {
          const fire = () => {
            request({ port, host: "127.0.0.1", agent, path: "/pay" }, (response) => {
              response.resume().once("end", () => resolve());
            })
              .on("error", fire)
              .end();
          };
          fire();
        }),
    );
    expect(wireFacts(warm.token).wireRequests).toBe(1);
    expect(repeats(token)).toMatchObject([{ path: "/pay", count: 2 }]);
  });

  it("tells queued requests on one socket apart", async () => {
    const { port } = await startService((_, response) => response.end("x"));
    const agent = keepAlive(1);
    const paths = ["/a", "/b", "/c", "/d"];
    const runs = await Promise.all(paths.map((path) => attempt(() => send({ port, agent, path }))));
    expect(runs.map(({ token }) => requestsOf(token))).toMatchObject(
      paths.map((path) => [{ path, status: 200 }]),
    );
  });

  it("counts a redirect that a client follows by hand as one request with its hop", async () => {
    const { port } = await startService((incoming, response) =>
      incoming.url === "/from"
        ? response.writeHead(307, { location: "/to" }).end()
        : response.writeHead(403).end(),
    );
    const { token } = await attempt(async () => {
      const { headers } = await send({ port, method: "POST", path: "/from" });
      await send({ port, method: "POST", path: headers.location });
    });
    expect(wireFacts(token)).toMatchObject({ wireRequests: 1, hops: 1, answered: 403 });
  });

  it("is unsent when nobody listens, and not when the connection is reset", async () => {
    const refused = await attempt(async () => send({ port: await closedPort() }));
    expect(wireFacts(refused.token)).toMatchObject({ wireRequests: 1, unsent: true });
    const { port } = await startService((incoming) => incoming.socket.destroy());
    const reset = await attempt(() => send({ port }));
    expect(wireFacts(reset.token)).toMatchObject({ wireRequests: 1, unsent: false });
  });

  it("is unsent when the certificate is not trusted, and nothing arrives", async () => {
    let arrived = 0;
    let bytes = 0;
    const server = createTlsServer(selfSigned(), () => (arrived += 1));
    server.on("secureConnection", (socket) => socket.on("data", (data) => (bytes += data.length)));
    const port = await listenOn(server);
    const closed = new Promise((resolve) => {
      server.on("connection", (socket) => socket.once("close", resolve));
    });
    const { token, error } = await attempt(() =>
      send({ protocol: "https:", port, method: "POST" }, "b"),
    );
    await closed;
    expect(error).toMatchObject({ code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
    expect(wireFacts(token)).toMatchObject({ wireRequests: 1, unsent: true });
    expect({ arrived, bytes }).toEqual({ arrived: 0, bytes: 0 });
  });

  it("takes no socket below TLS for another way out: a proxy's agent opens it for the request", async () => {
    const server = createTlsServer(selfSigned(), (_, response) => response.writeHead(404).end());
    const port = await listenOn(server);
    // As a proxy's agent does it, without the proxy.
    const createConnection = () => {
      const socket = connect(port, "127.0.0.1");
      return connectTls({ socket, rejectUnauthorized: false });
    };
    const options = { protocol: "https:", port, method: "POST", createConnection };
    const { token } = await attempt(() => send(options, "b"));
    expect(requestsOf(token)).toMatchObject([{ status: 404 }]);
    expect(token.others?.size).toBe(0);
  });

  it("is over when it is aborted before it has a socket, though that is no error", async () => {
    const { port } = await startService((_, response) => response.end());
    const { token } = await attempt(
      () =>
        new Promise<void>((resolve) => {
          const asked = request({ host: "127.0.0.1", port, method: "POST" });
          asked.once("close", () => setImmediate(resolve));
          asked.abort();
        }),
    );
    expect(requestsOf(token)).toMatchObject([{ open: false }]);
    expect(token.counter?.quiet()).toBeUndefined();
    expect(wireFacts(token)).toMatchObject({ unsent: false });
  });
});
