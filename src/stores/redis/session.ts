/**
 * An opened ledger: each bucket by its name, and every question put to it under that name.
 *
 * A bucket gets a name when it is first seen. A Redis that was flushed, restarted empty or replaced
 * while in use has lost it. The store then goes on with what is left, but hands out sequence 0 until
 * it is opened again: whoever looks at sequences knows that a missing record proves nothing.
 *
 * @module
 */

import { createHash, randomBytes } from "node:crypto";
import { InvalidInputError } from "../../errors.ts";
import type { Incarnation } from "../../ledger/store.ts";
import type { Layout } from "./layout.ts";
import { millisecondsOf } from "./row.ts";
import type { Reply, Runner } from "./runner.ts";
import { type Script, script, TELL_TIME } from "./script.ts";

export interface Session {
  readonly layout: Layout;
  /** Reads the names anew, and so accepts a ledger that has taken the place of another. */
  begin(): Promise<Incarnation>;
  /** Runs a script on one bucket; the key of its counter is put before the others. */
  ask(bucket: number, script: Script, keys: string[], args: string[]): Promise<Answer>;
  /** Notes a version that was handed out, and says which sequence it stands for. */
  saw(bucket: number, version: number): number;
  /** What the client puts before all keys, known once begun. */
  keyPrefix(): string;
}

export interface Answer {
  readonly tag: string;
  /** The server's time, in milliseconds. */
  readonly now: number;
  readonly values: readonly string[];
}

interface Bucket {
  readonly name: string;
  /** The key of its counter. */
  readonly counter: string;
  /** The last version it is known to have handed out. */
  last: number;
}

type Begun = Bucket & { readonly now: number };

/**
 * Names a bucket, with a counter that begins at the time: so versions of a ledger that was lost do
 * not come back. KEYS: name, counter of the new name. ARGV: the new name, the name to replace.
 */
const NAME: Script = script(`
local name = redis.call('GET', KEYS[1])
if not name or name == ARGV[2] then
  local time = redis.call('TIME')
  name = ARGV[1]
  redis.call('SET', KEYS[1], name)
  redis.call('SET', KEYS[2], string.format('%.0f', time[1] * 1000000 + time[2]))
end
return {name, KEYS[1]}
`);

/** KEYS: counter. */
const COUNTED: Script = script(`${TELL_TIME}
return {'ok', time[1], time[2], redis.call('GET', KEYS[1]) or ''}
`);

export const SESSION: readonly Script[] = [NAME, COUNTED];

export function createSession(runner: Runner, layout: Layout): Session {
  const isCluster = layout.buckets > 1;
  let buckets: readonly Bucket[] = [];
  let highest = 0;
  let keyPrefix = "";
  let lost = false;
  let recovering: Promise<unknown> | undefined;

  async function beginBucket(bucket: number, replace = ""): Promise<Begun> {
    const nameKey = layout.key(bucket, "name");
    // Short: it is in a key that every write names.
    const fresh = `${layout.buckets}-${randomBytes(12).toString("base64url")}`;
    const keys = [nameKey, layout.key(bucket, "counter", fresh)];
    const [name = "", seen = ""] = await runner.run(NAME, keys, [fresh, replace]);
    keyPrefix = seen.slice(0, seen.length - nameKey.length);
    assertSameKind(name, layout.buckets);
    const counter = layout.key(bucket, "counter", name);
    const { now, values } = answerIn(await runner.run(COUNTED, [counter], []));
    const [last = ""] = values;
    // A name without its counter: something was lost, so it is another ledger from here on.
    if (last === "") return beginBucket(bucket, name);
    return { name, counter, last: Number(last), now };
  }

  async function begin(): Promise<Incarnation> {
    const begun = await Promise.all(
      Array.from({ length: layout.buckets }, (_, bucket) => beginBucket(bucket)),
    );
    buckets = begun;
    highest = Math.max(...begun.map(({ last }) => last));
    const names = begun.map(({ name }) => name);
    return {
      // One lost bucket makes it another ledger.
      id: names.length === 1 ? String(names[0]) : digest(names),
      sequence: highest,
      now: Math.max(...begun.map(({ now }) => now)),
    };
  }

  const put = (bucket: number, script: Script, keys: string[], args: string[]): Promise<Reply> => {
    const { counter = "", last = 0 } = buckets[bucket] ?? {};
    const seen = isCluster ? [String(highest), String(last)] : [];
    return runner.run(script, [counter, ...keys], [...args, ...seen]);
  };

  return {
    layout,
    keyPrefix: () => keyPrefix,

    async begin() {
      const incarnation = await begin();
      lost = false;
      return incarnation;
    },

    async ask(bucket, script, keys, args) {
      const reply = await put(bucket, script, keys, args);
      if (reply[0] !== "lost") return answerIn(reply);
      lost = true;
      recovering ??= begin().finally(() => {
        recovering = undefined;
      });
      await recovering;
      const again = await put(bucket, script, keys, args);
      if (again[0] !== "lost") return answerIn(again);
      throw new InvalidInputError("redis.client", "does not keep what it is told.");
    },

    saw(bucket, version) {
      const seen = buckets[bucket];
      if (seen) seen.last = Math.max(seen.last, version);
      highest = Math.max(highest, version);
      return lost ? 0 : version;
    },
  };
}

const answerIn = ([tag = "", seconds, microseconds, ...values]: Reply): Answer => ({
  tag,
  now: millisecondsOf(seconds, microseconds),
  values,
});

function assertSameKind(name: string, buckets: number): void {
  if (name.startsWith(`${buckets}-`)) return;
  throw new InvalidInputError(
    "redis.client",
    "holds a ledger made through a client of the other kind, single or cluster.",
  );
}

const digest = (names: readonly string[]): string =>
  createHash("sha256").update(names.join("\n")).digest("hex");
