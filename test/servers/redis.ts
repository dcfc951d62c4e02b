/**
 * Redis servers for tests: one that runs already or is started here, others with settings of their
 * own, and a cluster of three.
 *
 * @module
 */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Ends it, at once by `SIGKILL`, and removes what it kept unless told to keep it. */
  stop(options?: { readonly keepFiles?: boolean }): Promise<void>;
  /** Starts it again on the same port, with or without what it kept. */
  restart(options: { readonly empty: boolean }): Promise<void>;
}

export interface RedisCluster {
  readonly ports: readonly number[];
  stop(): Promise<void>;
}

const BINARY = "redis-server";
const STARTUP_MS = 15_000;
const POLL_MS = 20;
const SLOTS = 16_384;

const run = promisify(execFile);
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * The Redis to test against: `REDIS_URL`, else the one on the usual port, else one started here.
 * Without any it says so, and fails if `HOLDFIRE_REQUIRE_SERVERS=1`.
 */
export async function findRedis(): Promise<RedisServer | undefined> {
  const url = process.env.REDIS_URL ?? "redis://127.0.0.1:6379";
  const { hostname, port } = new URL(url);
  const found: RedisServer = {
    url,
    port: Number(port || 6379),
    stop: async () => {},
    restart: () => Promise.reject(new Error("This Redis is not ours to restart.")),
  };
  if (process.env.REDIS_URL || (await answers(found.port, hostname))) return found;
  return (await canStartRedis()) ? startRedis() : missing();
}

/** Whether servers can be started here; says so if not. */
export async function canStartRedis(): Promise<boolean> {
  const found = await run(BINARY, ["--version"]).catch(() => undefined);
  if (!found) missing();
  return found !== undefined;
}

function missing(): undefined {
  if (process.env.HOLDFIRE_REQUIRE_SERVERS === "1") {
    throw new Error("No Redis: set REDIS_URL, or put redis-server in the PATH.");
  }
  process.stdout.write("skipped: no Redis (REDIS_URL, 127.0.0.1:6379 or redis-server in PATH)\n");
}

/** A server of its own, on a free port, that listens to this machine only. */
export async function startRedis(settings: readonly string[] = []): Promise<RedisServer> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), "holdfire-redis-"));
  const launch = () => launchRedis(port, folder, settings);
  let child = await launch();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    async stop({ keepFiles = false } = {}) {
      await ended(child);
      if (!keepFiles) await rm(folder, { recursive: true, force: true });
    },
    async restart({ empty }) {
      await ended(child);
      if (empty) for (const name of KEPT) await rm(join(folder, name), FORCE);
      child = await launch();
    },
  };
}

const KEPT = ["dump.rdb", "appendonlydir", "appendonly.aof"];
const FORCE = { recursive: true, force: true };

/** Three primaries that share the slots. */
export async function startCluster(): Promise<RedisCluster> {
  const settings = ["--cluster-enabled", "yes", "--cluster-node-timeout", "5000"];
  const nodes = await Promise.all([settings, settings, settings].map(startRedis));
  const ports = nodes.map(({ port }) => port);
  const share = Math.ceil(SLOTS / ports.length);
  for (const [index, port] of ports.entries()) {
    const [first, last] = [index * share, Math.min((index + 1) * share, SLOTS) - 1];
    await command(port, `CLUSTER ADDSLOTSRANGE ${first} ${last}`);
    for (const other of ports) await command(port, `CLUSTER MEET 127.0.0.1 ${other}`);
  }
  const until = Date.now() + STARTUP_MS;
  for (const port of ports) {
    while (!(await isJoined(port, ports.length))) {
      if (Date.now() > until) throw new Error("The cluster did not come together.");
      await wait(POLL_MS);
    }
  }
  return {
    ports,
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

async function isJoined(port: number, count: number): Promise<boolean> {
  const info = await command(port, "CLUSTER INFO");
  return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${count}`);
}

async function launchRedis(
  port: number,
  folder: string,
  settings: readonly string[],
): Promise<ChildProcess> {
  const standard = ["--port", `${port}`, "--bind", "127.0.0.1", "--dir", folder, "--save", ""];
  const child = spawn(BINARY, [...standard, ...settings], { stdio: "ignore" });
  // A run that is broken off must not leave servers behind.
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
  const until = Date.now() + STARTUP_MS;
  while (!(await answers(port))) {
    if (child.exitCode !== null || Date.now() > until) {
      child.kill("SIGKILL");
      throw new Error(`redis-server did not start on port ${port}.`);
    }
    await wait(POLL_MS);
  }
  return child;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await exit;
}

const answers = async (port: number, host = "127.0.0.1"): Promise<boolean> =>
  (await command(port, "PING", host).catch(() => "")).startsWith("+PONG");

/** One inline command, and the first piece of its reply. */
function command(port: number, text: string, host = "127.0.0.1"): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ port, host }, () => socket.write(`${text}\r\n`));
    socket.setTimeout(2_000, () => socket.destroy(new Error("no reply")));
    socket.once("error", reject);
    socket.once("data", (reply) => {
      socket.destroy();
      resolve(String(reply));
    });
  });
}

/** A port that was free a moment ago. Low, because a cluster also takes the one 10 000 above. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 30_000);
    if ((await isFree(port)) && (await isFree(port + 10_000))) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
