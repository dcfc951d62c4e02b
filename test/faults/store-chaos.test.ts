/**
 * Stores in trouble under a stream of calls. That the stream goes on within 5 s of the store's return is a limit on
 * a wait in real time: nothing in holdfire waits that long, and a machine would have to stand still for it to fail.
 */
import { describe, expect, test } from "vitest";
import { grouped } from "./judge.ts";
import { postgresTroubles } from "./postgres-troubles.ts";
import { redisTroubles } from "./redis-troubles.ts";
import { sqliteTroubles } from "./sqlite-troubles.ts";
import { type Streamed, streamThrough } from "./stream.ts";
import type { Trouble } from "./trouble.ts";

const TROUBLES: readonly Trouble[] = [
  ...sqliteTroubles,
  ...redisTroubles("ioredis"),
  ...redisTroubles("node-redis"),
  ...postgresTroubles("pg"),
  ...postgresTroubles("postgres.js"),
];

describe("under a stream of calls", { timeout: 120_000 }, () => {
  test.for(TROUBLES)(
    "$says: no duplicate, no untrue word, all are told, and the stream goes on",
    async ({ says, lasts, start }, { skip }) => {
      const store = await start();
      if (!store) return skip();
      try {
        const streamed = await streamThrough(store);
        process.stdout.write(`${lineOf(says, streamed)}\n`);
        expect(streamed.broken).toEqual([]);
        expect(streamed.suspicions).toEqual([]);
        // A trouble that lets calls through has proved nothing.
        if (lasts) expect(streamed.goneThrough).toEqual([]);
        expect(streamed.backAfterMs).toBeDefined();
      } finally {
        await store.stop();
      }
    },
  );
});

function lineOf(says: string, { told, backAfterMs, broken }: Streamed): string {
  const counts = grouped(told, ({ status }) => status);
  const tally = [...counts].map(([status, some]) => `${some.length} ${status}`).join(", ");
  const calls = told.filter(({ isLast }) => isLast).length;
  const back = backAfterMs === undefined ? "not back in time" : `back after ${backAfterMs} ms`;
  return `chaos: ${says}: ${calls} calls, ${broken.length} promises broken, ${back} (told: ${tally})`;
}
