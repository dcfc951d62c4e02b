import { type ClientHttp2Session, connect, createServer } from "node:http2";
import type { LookupFunction } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { AttemptEndedError } from "../../src/errors.ts";
import {
  createToken,
  endToken,
  repeats,
  requestsOf,
  runWithToken,
  wireFacts,
} from "../../src/wire/token.ts";
import { attempt, closedPort, listenOn } from "./servers.ts";

async function startSession(): Promise<{
  readonly url: string;
  readonly session: ClientHttp2Session;
}> {
  const server = createServer();
  // The server is told how the client's session ended.
  server.on("session", (peer) => peer.on("error", () => {}));
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    if (headers[":path"] === "/push") {
      stream.pushStream({ ":path": "/pushed" }, (_, pushed) => {
        pushed.respond();
        pushed.end("p");
      });
    }
    if (headers[":path"] === "/silent") return;
    stream.respond({ ":status": 404 });
    stream.end("x");
  });
  const url = `http://127.0.0.1:${await listenOn(server)}`;
  const session = connect(url);
  session.on("stream", (pushed) => pushed.resume());
  onTestFinished(() => session.destroy());
  return { url, session };
}

function send(session: ClientHttp2Session, path: string, method = "POST"): Promise<void> {
  return new Promise((resolve, reject) => {
    session
      .request({ ":path": path, ":method": method })
      .on("error", reject)
      .on("end", resolve)
      .resume()
      .end();
  });
}

/** Node 24.0 has no channels for it: there a session is a socket, which proves nothing. */
const isSilent = process.versions.node.startsWith("24.0.");

describe.skipIf(isSilent)("node:http2", () => {
  it("counts each stream on the token it was made under, before and after the connect", async () => {
    const { url, session } = await startSession();
    for (const round of [1, 2]) {
      const paths = [`/${round}/a?secret=1`, `/${round}/b?secret=1`];
      const runs = await Promise.all(paths.map((path) => attempt(() => send(session, path))));
      expect(runs.map(({ token }) => requestsOf(token))).toMatchObject(
        ["a", "b"].map((name) => [
          {
            transport: "http2",
            origin: url,
            method: "POST",
            path: `/${round}/${name}`,
            status: 404,
          },
        ]),
      );
      for (const { token } of runs) {
        expect(wireFacts(token)).toMatchObject({ wireRequests: 1, answered: 404, unsent: false });
      }
    }
  });

  it("finds repeats", async () => {
    const { session } = await startSession();
    const { token } = await attempt(async () => {
      await send(session, "/pay");
      await send(session, "/pay");
    });
    expect(repeats(token)).toMatchObject([{ path: "/pay", count: 2 }]);
  });

  it("does not count what the server pushes", async () => {
    const { token } = await attempt(async () => {
      const { session } = await startSession();
      const pushed = new Promise((resolve) => {
        session.once("stream", (stream) => stream.once("end", resolve));
      });
      await send(session, "/push", "GET");
      await pushed;
    });
    expect(requestsOf(token).map(({ path }) => path)).toMatchObject(["/push"]);
    expect(wireFacts(token).wireRequests).toBe(1);
  });

  it("is unsent when nobody listens", async () => {
    const session = connect(`http://127.0.0.1:${await closedPort()}`).on("error", () => {});
    const { token, error } = await attempt(() => send(session, "/x"));
    expect(error).toBeDefined();
    expect(wireFacts(token)).toMatchObject({ wireRequests: 1, unsent: true });
  });

  it("is not unsent once the stream has begun, whatever the session is destroyed with", async () => {
    const { session } = await startSession();
    await send(session, "/warm");
    const refused = Object.assign(new Error("x"), { code: "ECONNREFUSED", syscall: "connect" });
    session.on("error", () => {});
    const { token, error } = await attempt(() => {
      const sent = send(session, "/silent");
      session.destroy(refused);
      return sent;
    });
    expect(error).toBeDefined();
    expect(wireFacts(token)).toMatchObject({ wireRequests: 1, unsent: false });
  });

  it("stops a write whose time was over before its session was connected", async () => {
    const arrived: unknown[] = [];
    const server = createServer().on("stream", (stream, headers) => {
      arrived.push(headers[":path"]);
      stream.respond();
      stream.end();
    });
    const port = await listenOn(server);
    const looking: (() => void)[] = [];
    const slowly: LookupFunction = (_name, _options, found) => {
      looking.push(() => found(null, [{ address: "127.0.0.1", family: 4 }]));
    };
    const session = connect(`http://service.test:${port}`, { lookup: slowly });
    onTestFinished(() => session.destroy());
    let isInTime = true;
    const terms = {
      ignores: () => false,
      mayStillSend: () => isInTime,
      onLate: () => {},
      onOtherWay: () => {},
    };
    const token = createToken({ operationId: "late", attempt: 1, makeTerms: () => terms });
    onTestFinished(() => endToken(token));
    const late = runWithToken(token, () =>
      Promise.allSettled([send(session, "/pay"), send(session, "/book")]),
    );
    const other = send(session, "/other");
    isInTime = false;
    for (const find of looking) find();
    await other;
    expect(await late).toMatchObject([
      { reason: expect.any(AttemptEndedError) },
      { reason: expect.any(AttemptEndedError) },
    ]);
    expect(arrived).toEqual(["/other"]);
    expect(wireFacts(token)).toMatchObject({ wireRequests: 2, unsent: true });
  });
});
