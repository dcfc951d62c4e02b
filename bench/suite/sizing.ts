/**
 * What one guarded call costs the server behind the store: processor time, bytes kept, bytes of WAL. The
 * plan for many machines is sized from it.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import pg from "pg";
import { type Case, HOLDFIRE } from "../call/cases.ts";
import { cleanPostgres, cleanRedis } from "../call/clean.ts";
import type { StoreName } from "../call/holdfire.ts";
import { postgresUrl, redisUrl } from "../call/measure-cases.ts";
import { startRunner } from "../call/runner.ts";
import { median } from "../stores/measure.ts";
import { type Figures, merged, NO_FIGURES, type Series } from "./figures.ts";
import type { SuiteOptions } from "./options.ts";
import type { Part } from "./part.ts";

const CALLERS = 100;
const WARM_UP_MS = 1_000;
/** Of the clock in which Linux counts the processor time of a process. */
const TICKS_A_SECOND = 100;
const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));

/** What a server has used so far, and how much it keeps. */
interface Usage {
  readonly cpuUs: number | undefined;
  readonly logBytes: number | undefined;
}

interface Server {
  usage(): Promise<Usage>;
  /** Of one settled operation. */
  bytesKept(): Promise<number>;
  close(): Promise<void>;
}

export const sizing: Part = {
  groups: ["sizing"],
  async measure(_wanted, options, report) {
    const parts: Figures[] = [];
    for (const [store, open] of Object.entries(SERVERS)) {
      report(`sizing: ${store}`, false);
      try {
        const series = await measure(store as StoreName, open, options);
        parts.push({ series: [series], notRun: [] });
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        parts.push({ ...NO_FIGURES, notRun: [{ group: "sizing", name: store, why }] });
      }
    }
    report("sizing done", true);
    return merged(parts);
  },
};

async function measure(
  group: StoreName,
  open: (name: string) => Promise<Server>,
  { rounds, ms }: SuiteOptions,
): Promise<Series> {
  const name = `hfsize_${randomBytes(3).toString("hex")}`;
  const server = await open(name);
  const folder = mkdtempSync(join(tmpdir(), "holdfire-bench-sizing-"));
  const one: Case = { name: HOLDFIRE, group, guard: { tag: "holdfire", checkout: CHECKOUT } };
  const runner = startRunner(one, { folder, name, redisUrl, postgresUrl });
  const round = { callers: CALLERS, ms, allocation: false, again: false };
  const taken = {
    perSecond: [] as number[],
    cpuUs: [] as number[],
    serverCpuUs: [] as number[],
    logBytes: [] as number[],
  };
  try {
    await runner.measure({ ...round, ms: WARM_UP_MS });
    for (let n = 0; n < rounds; n += 1) {
      const before = await server.usage();
      const result = await runner.measure(round);
      const after = await server.usage();
      if (result.tag === "failed") throw new Error(result.why);
      // The warm-up of a round is in the server's count, too: all orders are counted.
      const { asked } = result.ran;
      taken.perSecond.push(result.first.perSecond);
      taken.cpuUs.push(result.first.cpuUs);
      const each = (of: keyof Usage): number =>
        ((after[of] ?? Number.NaN) - (before[of] ?? Number.NaN)) / asked;
      if (after.cpuUs !== undefined) taken.serverCpuUs.push(each("cpuUs"));
      if (after.logBytes !== undefined) taken.logBytes.push(each("logBytes"));
    }
    const bytes = [await server.bytesKept()];
    return { group: "sizing", name: group, at: "", rounds: { ...taken, bytes } };
  } finally {
    runner.end();
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const SERVERS: Readonly<Partial<Record<StoreName, (name: string) => Promise<Server>>>> = {
  async redis(name) {
    const client = new Redis(redisUrl, { lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => {});
    await client.connect();
    return {
      async usage() {
        const info = await client.info("cpu");
        const seconds = (key: string): number =>
          Number(
            info
              .split("\r\n")
              .find((line) => line.startsWith(`${key}:`))
              ?.split(":")[1],
          );
        const cpuUs = (seconds("used_cpu_user") + seconds("used_cpu_sys")) * 1e6;
        return { cpuUs, logBytes: undefined };
      },
      /** A record is a string; what indexes the records is not, and is shared by all of them. */
      async bytesKept() {
        const sampled: number[] = [];
        let [shared, records] = [0, 0];
        for await (const keys of client.scanStream({ match: `*${name}*`, count: 1_000 })) {
          for (const key of keys as string[]) {
            const isRecord = (await client.type(key)) === "string";
            if (isRecord) records += 1;
            if (isRecord && sampled.length < 1_000) {
              sampled.push(Number(await client.memory("USAGE", key)));
            }
            if (!isRecord) shared += Number(await client.memory("USAGE", key, "SAMPLES", 0));
          }
        }
        return median(sampled) + shared / records;
      },
      async close() {
        await client.quit();
        await cleanRedis(redisUrl, name);
      },
    };
  },

  async postgres(name) {
    const client = new pg.Client({ connectionString: postgresUrl });
    await client.connect();
    const one = async (sql: string): Promise<Record<string, string>> =>
      (await client.query<Record<string, string>>(sql)).rows[0] ?? {};
    const { pid = "" } = await one(
      "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1) AS pid",
    ).catch((): Record<string, string> => ({}));
    return {
      async usage() {
        const { bytes } = await one("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS bytes");
        return { cpuUs: cpuOfTree(Number(pid)), logBytes: Number(bytes) };
      },
      async bytesKept() {
        const table = `'"${name}".holdfire_operations'`;
        await client.query(`VACUUM ANALYZE "${name}".holdfire_operations`);
        const { bytes, rows } = await one(
          `SELECT pg_total_relation_size(${table}) AS bytes, (SELECT count(*) FROM "${name}".holdfire_operations) AS rows`,
        );
        return Number(bytes) / Number(rows);
      },
      async close() {
        await client.end();
        await cleanPostgres(postgresUrl, [name]);
      },
    };
  },
};

/** Processor time of a process and of its children, those that have ended included. Linux only. */
function cpuOfTree(pid: number): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
    const ticks = [pid, ...children.map(Number)].map((each) => {
      const stat = readFileSync(`/proc/${each}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const [own, ended] = [fields.slice(11, 13), each === pid ? fields.slice(13, 15) : []];
      return [...own, ...ended].reduce((sum, field) => sum + Number(field), 0);
    });
    return (ticks.reduce((sum, each) => sum + each, 0) / TICKS_A_SECOND) * 1e6;
  } catch {
    return undefined;
  }
}
