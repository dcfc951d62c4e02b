/** An effect by another way than HTTP, then a `fetch` that is refused: nothing seen proves nothing, so it is one effect. */
import { spawn } from "node:child_process";
import { hash } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import { createServer as createHttpServer, request } from "node:http";
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  createServer as createHttp2Server,
} from "node:http2";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { absent } from "../../src/engine/define/reading.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { until } from "../engine/virtual-clock.ts";
import { findScratch, type Scratch } from "../servers/postgres.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { closedPort, listenOn } from "../wire/servers.ts";
import { openWorld } from "./world.ts";

const ONCE = { scope: "job-1" };
const newFolder = temporaryFolder();

/** A service that is told over bare sockets, and another that cannot be reached. */
async function open() {
  const world = await openWorld();
  let effects = 0;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", () => {
      effects += 1;
      socket.write("done");
    });
  });
  const port = await listenOn(server);
  const refused = `http://127.0.0.1:${await closedPort()}/audit`;
  const audit = () => world.track(fetch(refused, { method: "POST", body: "{}" }));
  return { ...world, port, audit, effects: () => effects };
}

const tell = (port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write("pay"));
    socket.once("data", () => resolve(socket.destroy() && undefined));
    socket.on("error", reject);
  });

const SCRIPT =
  "const s=require('net').connect(+process.argv[1]||require('worker_threads').workerData,'127.0.0.1',()=>s.write('pay'));s.once('data',()=>s.destroy())";

const exited = (process: { once(event: "exit", fn: () => void): unknown }) =>
  new Promise<void>((resolve) => void process.once("exit", resolve));

const WAYS: Record<string, (port: number) => Promise<void>> = {
  "a socket": tell,
  "a child process": (port) => exited(spawn(process.execPath, ["-e", SCRIPT, `${port}`])),
  "a worker thread": (port) => exited(new Worker(SCRIPT, { eval: true, workerData: port })),
};

test.each(Object.keys(WAYS))("%s: one effect, and not known", async (name) => {
  const { hf, pass, track, port, audit, effects, clock } = await open();
  const way = WAYS[name] ?? tell;
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object) => {
      await track(way(port));
      await audit();
    },
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "unknown", attempts: 1 });
  await clock.advance(3_600_000);
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "unknown" });
  expect(effects()).toBe(1);
});

/** A service that is told over a socket that began as an HTTP request. */
async function openUpgrading() {
  let effects = 0;
  const server = createHttpServer((_, response) => response.writeHead(404).end());
  server.on("upgrade", ({ headers }, socket) => {
    const accept = `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const lines = [
      "HTTP/1.1 101 Switching Protocols",
      "Connection: Upgrade",
      `Upgrade: ${headers.upgrade}`,
      `Sec-WebSocket-Accept: ${hash("sha1", accept, "base64")}`,
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    socket.on("error", () => {});
    socket.once("data", () => {
      effects += 1;
      socket.end(Buffer.from([0x81, 2, 0x6f, 0x6b]));
    });
  });
  return { address: `127.0.0.1:${await listenOn(server)}`, effects: () => effects };
}

const UPGRADES: Record<string, (address: string) => Promise<void>> = {
  "a WebSocket": (address) =>
    new Promise((resolve) => {
      const socket = new WebSocket(`ws://${address}`);
      socket.onopen = () => socket.send("pay");
      socket.onmessage = () => resolve();
    }),
  "an upgraded request of node:http": (address) =>
    new Promise((resolve) => {
      const headers = { connection: "upgrade", upgrade: "payments" };
      const asked = request(`http://${address}`, { headers }).end();
      asked.once("upgrade", (_, socket) => socket.once("data", () => resolve()).write("pay"));
    }),
};

test.each(Object.keys(UPGRADES))(
  "%s, then a 404: the no of one is not the no of both",
  async (name) => {
    const { hf, pass, track } = await openWorld();
    const { address, effects } = await openUpgrading();
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      run: async (_: object) => {
        await track(UPGRADES[name]?.(address) ?? Promise.reject());
        const answer = await track(fetch(`http://${address}`, { method: "POST", body: "{}" }));
        throw new Error(`HTTP ${answer.status}`);
      },
    });
    expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "unknown" });
    expect(effects()).toBe(1);
  },
);

/** What cannot be noticed at all is not fired again either: only the request is told as not sent. */
test("a file, and a connection that was open before: one effect, told in its own words", async () => {
  const { hf, pass, audit, clock } = await open();
  const file = join(newFolder(), "journal");
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object) => {
      appendFileSync(file, "paid\n");
      await audit();
    },
  });
  const outcome = await pass(pay.outcome({}, ONCE));
  expect(outcome).toMatchObject({ status: "not_applied", reason: "not_sent", attempts: 1 });
  await clock.advance(3_600_000);
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ replayed: true });
  expect(readFileSync(file, "utf8")).toBe("paid\n");
});

test("inside an outer tool, beside an inner operation: one mail", async () => {
  const { hf, pass, track, port, audit, effects, clock } = await open();
  const note = hf.tool({
    name: "note",
    kind: "write",
    via: "http",
    run: async (_: object) => audit(),
  });
  const close = hf.tool({
    name: "close",
    kind: "write",
    run: async (_: object) => {
      await track(tell(port));
      await note({});
    },
  });
  expect((await pass(close.outcome({}, ONCE))).status).toBe("unknown");
  await clock.advance(3_600_000);
  await pass(close.outcome({}, ONCE));
  expect(effects()).toBe(1);
});

test("a socket that an HTTP client opens for its own request is no other way", async () => {
  const { hf, pass, audit } = await open();
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object) => void (await audit()),
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ reason: "not_sent" });
});

const found = await findScratch();

test.skipIf(!found)(
  "enlisted in a transaction, a new socket is refused as a request is",
  async () => {
    const { port, effects } = await open();
    const { schema, pool, drop } = found ?? ({} as Scratch);
    const store = postgresStore({ pool, schema, migrate: true });
    const hf = createHoldfire({ app: "world", store, witness: memoryWitness() });
    onTestFinished(async () => {
      await hf.close();
      await drop();
    });
    const client = await pool.connect();
    await client.query("BEGIN");
    const run = async (_: object) => tell(port);
    const mail = hf.enlist(client).tool({ name: "mail", kind: "write", run });
    expect((await mail.outcome({}, ONCE)).status).toBe("not_applied");
    await client.query("ROLLBACK");
    client.release();
    expect(effects()).toBe(0);
  },
);

// Node 24.0 tells nothing of its HTTP/2 streams; see docs/limits.md.
const isSilent = process.versions.node.startsWith("24.0.");

test.skipIf(isSilent).each([
  ["its process cannot say that it was torn down: absent licenses nothing", true, "unknown", 0],
  ["its process says that it was torn down: absent licenses another", false, "committed", 1],
] as const)(
  "an HTTP/2 request that waits for its turn on a full session, where %s",
  async (_, cutsOff, status, effects) => {
    const { another, pass, track, clock, store } = await openWorld();
    let isCutOff = false;
    const swap: typeof store.swap = async (change) =>
      isCutOff ? new Promise<never>(() => {}) : store.swap(change);
    // Closed, it does not tell the ledger any more that its attempt runs.
    const hf = another({ store: { ...store, swap, close: async () => {} } });
    let pays = 0;
    let answerSlow = () => {};
    const settings = { maxConcurrentStreams: 1 };
    const server = createHttp2Server({ settings }, (asked, answer) => {
      if (asked.url === "/pay") pays += 1;
      if (asked.url === "/slow") answerSlow = () => answer.end();
      else answer.end();
    });
    const url = `http://127.0.0.1:${await listenOn(server)}`;
    const send = (session: ClientHttp2Session, path: string) =>
      new Promise<string>((resolve, reject) => {
        const stream = session.request({ ":method": "POST", ":path": path });
        stream
          .on("error", reject)
          .on("end", () => resolve("done"))
          .resume()
          .end();
      });
    const [session, other] = [connectHttp2(url), connectHttp2(url)];
    onTestFinished(() => {
      session.destroy();
      other.destroy();
    });
    const tornDown: unknown[] = [];
    const untilTornDown = (sent: Promise<string>) =>
      sent.catch((error: unknown) => {
        tornDown.push(error);
        throw error;
      });
    const define = (by: typeof hf) =>
      by.tool({
        name: "pay",
        kind: "write",
        ...{ attemptTimeoutMs: 1_000, deadlineMs: 2_000, commitsWithinMs: 100 },
        run: ({ path }: { readonly path: string }) =>
          by === hf ? untilTornDown(send(session, path)) : track(send(other, path)),
        readState: () => absent(),
      });
    const pay = define(hf);
    await pay.outcome({ path: "/warm" }, ONCE);
    const slow = send(session, "/slow");
    expect(await pass(pay.outcome({ path: "/pay" }, ONCE))).toMatchObject({
      status: "in_progress",
    });
    isCutOff = cutsOff;
    await pass(hf.close());
    await clock.advance(60_000);
    await until(() => tornDown.length === 1);
    await clock.settle();
    const heir = define(another());
    expect(await pass(heir.outcome({ path: "/pay" }, ONCE))).toMatchObject({ status });
    answerSlow();
    await slow;
    expect(await send(session, "/last")).toBe("done");
    expect(pays).toBe(effects);
  },
);
