/**
 * How often one call goes to Redis and back, counted on the server.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { allCasesOf, type Case, guardOf } from "../call/cases.ts";
import { cleanRedis } from "../call/clean.ts";
import { newOrder } from "../call/guard.ts";
import { redisUrl } from "../call/measure-cases.ts";
import { NO_FIGURES, type Series } from "./figures.ts";
import type { Part } from "./part.ts";

const CALLS = 10;
const CHECKOUT = fileURLToPath(new URL("../..", import.meta.url));

export const trips: Part = {
  groups: ["trips"],
  async measure(_wanted, _options, report) {
    report("trips", false);
    const prefix = `hftrips_${randomBytes(3).toString("hex")}`;
    const client = new Redis(redisUrl, { lazyConnect: true, retryStrategy: () => null });
    client.on("error", () => {});
    const isThere = await client.connect().then(
      () => true,
      () => false,
    );
    if (!isThere) {
      const why = "no Redis answers at REDIS_URL, or on this machine";
      return { ...NO_FIGURES, notRun: [{ group: "trips", name: "all", why }] };
    }
    const monitor = await client.monitor();
    let seen = 0;
    let lastEcho = "";
    // What a script does inside the server comes from "lua", and is no trip.
    monitor.on("monitor", (_time: string, args: readonly string[], source: string) => {
      if (source === "lua" || !args.some((arg) => arg.includes(prefix))) return;
      if (args[0]?.toLowerCase() === "echo") lastEcho = args[1] ?? "";
      else seen += 1;
    });
    // The monitor has seen all that came before, once it sees this.
    const seenAll = async (): Promise<void> => {
      const before = seen;
      await client.echo(`${prefix} ${before}`);
      while (!lastEcho.endsWith(` ${before}`)) await new Promise((done) => setImmediate(done));
    };
    const counted = async (make: () => Promise<void>): Promise<number> => {
      await seenAll();
      const before = seen;
      await make();
      await seenAll();
      return seen - before;
    };
    try {
      const series: Series[] = [];
      for (const one of allCasesOf("redis", CHECKOUT)) {
        series.push(await seriesOf(one, `${prefix}_${series.length}`, counted));
      }
      report("trips done", true);
      return { series, notRun: [] };
    } finally {
      monitor.disconnect();
      await client.quit();
      await cleanRedis(redisUrl, prefix);
    }
  },
};

async function seriesOf(
  one: Case,
  name: string,
  counted: (make: () => Promise<void>) => Promise<number>,
): Promise<Series> {
  const open = await guardOf(one);
  const place = { folder: "", name, redisUrl, postgresUrl: "" };
  const guard = await open(async ({ n }) => ({ id: `receipt-${n}`, n }), place);
  // The first call also opens the store.
  await guard.call(newOrder(0));
  const make = async (): Promise<void> => {
    for (let n = 1; n <= CALLS; n += 1) await guard.call(newOrder(n));
  };
  const first = await counted(make);
  const again = await counted(make);
  await guard.close();
  const rounds = { trips: [first / CALLS], tripsAgain: [again / CALLS] };
  return { group: "trips", name: one.name, at: "", rounds };
}
