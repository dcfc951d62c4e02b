import { type ClientHttp2Session, connect, createServer } from "node:http2";
import { describe, expect, it, onTestFinished } from "vitest";
import { repeats, requestsOf, wireFacts } from "../../src/wire/token.ts";
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
});
