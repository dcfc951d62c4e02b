/**
 * A Postgres server for tests: one that runs already, or one that is started here.
 *
 * @module
 */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { chown, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";

export interface PostgresServer {
  readonly url: string;
  /** Ends it if it was started here. */
  stop(): Promise<void>;
}

/** One that was started here. */
export interface OwnPostgres extends PostgresServer {
  /** Starts it again, with what it has on its disk. */
  restart(): Promise<void>;
}

/** A schema of its own, for one file of tests. */
export interface Scratch {
  readonly url: string;
  readonly schema: string;
  readonly pool: pg.Pool;
  /** Removes the schema, and stops the server if it was started here. */
  drop(): Promise<void>;
}

const USUAL = "postgres://postgres@127.0.0.1:5432/test";
const STARTUP_MS = 30_000;
const POLL_MS = 50;

const run = promisify(execFile);
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * The Postgres to test against: `DATABASE_URL`, else the one on the usual port, else one started here.
 * Without any it says so, and fails if `HOLDFIRE_REQUIRE_SERVERS=1`.
 */
export async function findPostgres(): Promise<PostgresServer | undefined> {
  const url = process.env.DATABASE_URL ?? USUAL;
  if (process.env.DATABASE_URL || (await answers(url))) return { url, stop: async () => {} };
  return (await canStartPostgres()) ? startPostgres() : undefined;
}

/** Where a file of tests works; nothing where there is no Postgres. */
export async function findScratch(): Promise<Scratch | undefined> {
  const server = await findPostgres();
  if (!server) return undefined;
  const schema = `holdfire_test_${randomUUID().slice(0, 8)}`;
  const pool = new pg.Pool({ connectionString: server.url, max: 8 });
  await pool.query(`CREATE SCHEMA "${schema}"`);
  return {
    url: server.url,
    schema,
    pool,
    async drop() {
      await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
      await pool.end();
      await server.stop();
    },
  };
}

/** Whether servers can be started here; says so if not. */
export async function canStartPostgres(): Promise<boolean> {
  const found = await run("initdb", ["--version"]).catch(() => undefined);
  if (!found) missing();
  return found !== undefined;
}

function missing(): undefined {
  if (process.env.HOLDFIRE_REQUIRE_SERVERS === "1") {
    throw new Error("No Postgres: set DATABASE_URL, or put initdb and postgres in the PATH.");
  }
  process.stdout.write(
    "skipped: no Postgres (DATABASE_URL, 127.0.0.1:5432 or initdb and postgres in PATH)\n",
  );
}

/** A server of its own, on a free port, that listens to this machine only. */
export async function startPostgres({
  settings = [],
  isStandby = false,
  follows,
}: {
  readonly settings?: readonly string[];
  readonly isStandby?: boolean;
  /** The address of a server: this one is then a copy, which follows it until it is promoted. */
  readonly follows?: string;
} = {}): Promise<OwnPostgres> {
  const owner = await ownerOfServer();
  const folder = await mkdtemp(join(tmpdir(), "holdfire-postgres-"));
  if (owner) await chown(folder, owner.uid, owner.gid);
  const data = join(folder, "data");
  const as = { ...owner, cwd: folder };
  if (follows)
    await run("pg_basebackup", ["-d", follows, "-D", data, "-R", "-c", "fast", "-N"], as);
  else {
    // Each file of the log is written in full at once, here and in every copy: the smallest there are.
    const small = ["-N", "--wal-segsize=1"];
    await run("initdb", ["-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", ...small], as);
  }
  // Without a primary to follow it waits for one, and answers as a replica does.
  if (isStandby) await writeFile(join(data, "standby.signal"), "");
  const port = await freePort();
  const standard = ["-D", data, "-p", `${port}`, "-k", folder, "-h", "127.0.0.1"];
  const launch = () => spawn("postgres", [...standard, ...settings], { ...as, stdio: "ignore" });
  let child = launch();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  await started(child, url);
  return {
    url,
    async restart() {
      await ended(child);
      child = launch();
      await started(child, url);
    },
    async stop() {
      await ended(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function started(child: ChildProcess, url: string): Promise<void> {
  const until = Date.now() + STARTUP_MS;
  while (!(await answers(url))) {
    if (child.exitCode !== null || Date.now() > until) {
      await ended(child);
      throw new Error(`Postgres did not start: ${url}`);
    }
    await wait(POLL_MS);
  }
}

/** Postgres refuses to run as root: then it runs as its own user, or as nobody. */
async function ownerOfServer(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const users = (await readFile("/etc/passwd", "utf8")).split("\n").map((line) => line.split(":"));
  const user = users.find(([name]) => name === "postgres") ?? users.find(([n]) => n === "nobody");
  return user && { uid: Number(user[2]), gid: Number(user[3]) };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  // "Immediate shutdown": its children go with it, which SIGKILL would leave behind.
  child.kill("SIGQUIT");
  await exit;
}

async function answers(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2_000 });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
