/**
 * What happens to a Redis that syncs every write.
 *
 * @module
 */

import { Redis } from "ioredis";
import { DURABLE_REDIS } from "../processes/ground.ts";
import type { Place } from "../processes/place.ts";
import { canStartRedis, type RedisServer, startRedis } from "../servers/redis.ts";
import type { End, Trouble } from "./trouble.ts";

type Client = Extract<Place, { store: "redis" }>["client"];

interface RedisTrouble {
  readonly says: string;
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
      const pid = Number(/process_id:(\d+)/.exec(await admin.info("server"))?.[1]);
      process.kill(pid, "SIGSTOP");
      return async () => process.kill(pid, "SIGCONT");
    },
  },
  {
    says: "may only be read",
    begin: (_, admin) => set(admin, "min-replicas-to-write", "1"),
  },
  {
    says: "has no memory left",
    begin: (_, admin) => set(admin, "maxmemory", "1"),
  },
];

/** Until the end, when it is 0 as it was. */
async function set(admin: Redis, setting: string, value: string): Promise<End> {
  await admin.config("SET", setting, value);
  return () => admin.config("SET", setting, "0");
}

export const redisTroubles = (client: Client): readonly Trouble[] =>
  ALL.map(({ says, begin }) => ({
    says: `a Redis ${says} (${client})`,
    lasts: true,
    async start() {
      if (!(await canStartRedis())) return undefined;
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
