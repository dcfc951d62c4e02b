/**
 * What happens to a Postgres of its own.
 *
 * @module
 */

import { readdir, readFile } from "node:fs/promises";
import pg from "pg";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { canTrace } from "../crash/trace.ts";
import type { Place } from "../processes/place.ts";
import { canStartPostgres, type OwnPostgres, startPostgres } from "../servers/postgres.ts";
import { failWrites } from "./failing-writes.ts";
import type { End, Trouble } from "./trouble.ts";

type Client = Extract<Place, { store: "postgres" }>["client"];

interface PostgresTrouble {
  readonly says: string;
  readonly lasts: boolean;
  /** @default always */
  isPossible?(): Promise<boolean>;
  begin(server: OwnPostgres): Promise<End>;
}

const SCHEMA = "holdfire_faults";

const ALL: readonly PostgresTrouble[] = [
  {
    // One killed process of it makes the server end all of them, and recover from its log.
    says: "crashes and recovers",
    lasts: false,
    async begin({ url }) {
      process.kill(await checkpointerOf(url), "SIGKILL");
      return async () => {
        while ((await ask(url, "SELECT 1").catch(() => [])).length === 0);
      };
    },
  },
  {
    says: "is frozen",
    lasts: true,
    async begin({ url }) {
      const first = await parentOf(await checkpointerOf(url));
      // The first one first: it starts no others then.
      process.kill(first, "SIGSTOP");
      const all = [first, ...(await childrenOf(first))];
      for (const pid of all) signal(pid, "SIGSTOP");
      return async () => {
        for (const pid of all) signal(pid, "SIGCONT");
      };
    },
  },
  {
    says: "may only be read",
    lasts: true,
    async begin({ url }) {
      await setReadOnly(url, "on");
      return () => setReadOnly(url, "off");
    },
  },
  {
    // It cannot write its log: it ends all of its processes, cannot recover, and exits.
    says: "has a full disk, and is restarted when there is room",
    lasts: true,
    isPossible: canTrace,
    async begin(server) {
      const first = await parentOf(await checkpointerOf(server.url));
      const pids = [first, ...(await childrenOf(first))];
      const end = await failWrites({ pids, calls: WRITES, error: "ENOSPC" });
      return async () => {
        await end();
        await server.restart();
      };
    },
  },
];

const WRITES = "pwrite64,pwritev,fallocate";

async function setReadOnly(url: string, to: "on" | "off"): Promise<void> {
  await ask(url, `ALTER SYSTEM SET default_transaction_read_only = ${to}`);
  await ask(url, "SELECT pg_reload_conf()");
}

async function checkpointerOf(url: string): Promise<number> {
  const text = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'";
  const [found] = (await ask(url, text)) as readonly { readonly pid: number }[];
  return found?.pid ?? 0;
}

async function childrenOf(parent: number): Promise<readonly number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(pids.map(parentOf));
  return pids.filter((_, index) => parents[index] === parent);
}

async function parentOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}

/** A backend may have ended with its connection. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function ask(connectionString: string, text: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

export const postgresTroubles = (client: Client): readonly Trouble[] =>
  ALL.map(({ says, lasts, begin, isPossible = async () => true }) => ({
    says: `a Postgres ${says} (${client})`,
    lasts,
    async start() {
      if (!(await canStartPostgres()) || !(await isPossible())) return undefined;
      const server = await startPostgres();
      const { url, stop } = server;
      const pool = new pg.Pool({ connectionString: url, max: 1 });
      const store = postgresStore({ pool, schema: SCHEMA });
      await store.migrate();
      await store.close();
      await pool.end();
      return {
        place: { store: "postgres", url, schema: SCHEMA, client },
        begin: () => begin(server),
        stop,
      };
    },
  }));
