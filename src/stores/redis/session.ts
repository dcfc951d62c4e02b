/**
 * An opened ledger: each bucket by its name, and every question put to it under that name.
 *
 * A bucket names itself when it is first seen. A Redis that was flushed, restarted empty or replaced
 * has lost the names, and is then not taken for a ledger in which nothing ever happened.
 *
 * @module
 */

import { createHash, randomUUID } from "node:crypto";
import { InvalidInputError } from "../../errors.ts";
import type { Incarnation } from "../../ledger/store.ts";
import type { Layout } from "./layout.ts";
import { versionIn } from "./row.ts";
import type { Reply, Runner } from "./runner.ts";
import { type Script, scriptOf } from "./script.ts";

export interface Session {
  readonly layout: Layout;
  /** Reads the names anew, and so accepts a ledger that has taken the place of another. */
  begin(): Promise<Incarnation>;
  /** Runs a script on one bucket; its first key and argument are added here. */
  ask(
    bucket: number,
    script: Script,
    keys: readonly string[],
    args: readonly string[],
  ): Promise<Reply>;
}

interface Question {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** Names a bucket that has no name. */
const NAME_BUCKET: Script = scriptOf(`
local time = redis.call('TIME')
local us = time[1] * 1000000 + time[2]
local head = redis.call('GET', KEYS[1])
if not head then
  head = ARGV[1] .. '|' .. string.format('%.0f', us)
  redis.call('SET', KEYS[1], head)
end
return {string.format('%.0f', math.floor(us / 1000)), head}
`);

export function createSession(runner: Runner, layout: Layout, accepted: boolean): Session {
  let names: readonly string[] = [];

  async function begin(): Promise<Incarnation> {
    const heads = await Promise.all(
      Array.from({ length: layout.buckets }, async (_, bucket) => {
        const key = layout.key(bucket, "head");
        const name = `${layout.buckets}-${randomUUID()}`;
        const [now, head = ""] = await runner.run(NAME_BUCKET, [key], [name]);
        return { now: Number(now), ...headIn(head, layout.buckets) };
      }),
    );
    names = heads.map(({ name }) => name);
    return {
      // One lost bucket makes it another ledger.
      id: names.length === 1 ? String(names[0]) : digest(names),
      sequence: Math.max(...heads.map(({ last }) => last)),
      now: Math.max(...heads.map(({ now }) => now)),
    };
  }

  const put = (bucket: number, { script, keys, args }: Question): Promise<Reply> =>
    runner.run(script, [layout.key(bucket, "head"), ...keys], [names[bucket] ?? "", ...args]);

  return {
    layout,
    begin,

    async ask(bucket, script, keys, args) {
      const reply = await put(bucket, { script, keys, args });
      if (reply[0] !== "lost") return reply;
      // Whoever accepted that it forgets goes on with what is left.
      if (accepted) {
        await begin();
        const again = await put(bucket, { script, keys, args });
        if (again[0] !== "lost") return again;
      }
      throw new InvalidInputError(
        "redis.client",
        "no longer holds the ledger that was opened: it was flushed, restarted empty or replaced.",
      );
    },
  };
}

function headIn(head: string, buckets: number): { readonly name: string; readonly last: number } {
  const [name = "", last] = head.split("|");
  if (!name.startsWith(`${buckets}-`)) {
    throw new InvalidInputError(
      "redis.client",
      "holds a ledger made through a client of the other kind, single or cluster.",
    );
  }
  return { name, last: versionIn(last) };
}

const digest = (names: readonly string[]): string =>
  createHash("sha256").update(names.join("\n")).digest("hex");
