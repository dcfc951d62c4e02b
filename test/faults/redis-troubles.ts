/**
 * What happens to a Redis that syncs every write.
 *
 * @module
 */

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { canTrace } from "../crash/trace.ts";
import { DURABLE_REDIS } from "../processes/ground.ts";
import type { Place } from "../processes/place.ts";
import { canStartRedis, type RedisServer, startRedis } from "../servers/redis.ts";
import { failWrites } from "./failing-writes.ts";
import type { End, Trouble } from "./trouble.ts";

type Client = Extract<Place, { store: "redis" }>["client"];

interface RedisTrouble {
  readonly says: string;
  /** @default always */
  isPossible?(): Promise<boolean>;
  begin(server: RedisServer, admin: Redis): Promise<End>;
}

const ALL: readonly RedisTrouble[] = [
  {
    says: "is killed and restarted",
    async begin(server) {
      await server.stop({ keepFiles: true });
      return () => server.restart({ empty: false });
    },
  },
  {
    says: "is frozen",
    async begin(_, admin) {
      const pid = await pidOf(admin);
      process.kill(pid, "SIGSTOP");
      return async () => process.kill(pid, "SIGCONT");
    },
  },
  {
    says: "may only be read",
    begin: (_, admin) => set(admin, "min-replicas-to-write", "1"),
  },
  {
    // It syncs every write, and so it exits when one fails.
    says: "has a full disk, and is restarted when there is room",
    isPossible: canTrace,
    async begin(server, admin) {
      const pid = await pidOf(admin);
      const file = await logOf(admin);
      const end = await failWrites({ pids: [pid], calls: "write", error: "ENOSPC", file });
      return async () => {
        await end();
        await server.restart({ empty: false });
      };
    },
  },
  {
    says: "has no memory left",
    begin: (_, admin) => set(admin, "maxmemory", "1"),
  },
];

const pidOf = async (admin: Redis): Promise<number> =>
  Number(/process_id:(\d+)/.exec(await admin.info("server"))?.[1]);

/** The file that its writes are appended to. */
async function logOf(admin: Redis): Promise<string> {
  const [, folder = ""] = (await admin.config("GET", "dir")) as readonly string[];
  const [, inside = ""] = (await admin.config("GET", "appenddirname")) as readonly string[];
  const names = await readdir(join(folder, inside));
  return join(folder, inside, names.find((name) => name.endsWith(".incr.aof")) ?? "");
}

/** Until the end, when it is 0 as it was. */
async function set(admin: Redis, setting: string, value: string): Promise<End> {
  await admin.config("SET", setting, value);
  return () => admin.config("SET", setting, "0");
}

export const redisTroubles = (client: Client): readonly Trouble[] =>
  ALL.map(({ says, begin, isPossible = async () => true }) => ({
    says: `a Redis ${says} (${client})`,
    lasts: true,
    async start() {
      if (!(await canStartRedis()) || !(await isPossible())) return undefined;
      const server = await startRedis(DURABLE_REDIS);
      const admin = new Redis(server.url);
      admin.on("error", () => {});
      return {
        place: { store: "redis", url: server.url, prefix: "hf", client },
        begin: () => begin(server, admin),
        async stop() {
          admin.disconnect();
          await server.stop();
        },
      };
    },
  }));
