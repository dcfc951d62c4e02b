/**
 * Runs scripts on an opened ledger, and notices when the ledger was lost.
 *
 * Each bucket has a random name, and a counter under that name which gives out its versions. A Redis
 * that was flushed, restarted empty or replaced has lost them; one that went back to an older state
 * has a counter below what this store has seen. Then the store goes on with what is left, but reports
 * sequence 0 until it is opened again: a missing record proves nothing then.
 *
 * @module
 */

import { createHash, randomBytes } from "node:crypto";
import { InvalidInputError } from "../../errors.ts";
import type { Incarnation } from "../../ledger/store.ts";
import type { Connection } from "./client.ts";
import type { Layout } from "./layout.ts";

export interface Script {
  readonly text: string;
  /** The name under which the server remembers it. */
  readonly sha: string;
}

export interface Answer {
  /** The server's time, in milliseconds. */
  readonly now: number;
  readonly values: readonly string[];
}

export interface Session {
  readonly layout: Layout;
  /** Identifies the ledger anew, and so accepts one that has replaced another. */
  begin(): Promise<Incarnation>;
  /** Runs a script on one bucket. */
  ask(bucket: number, script: Script, keys: string[], args?: string[]): Promise<Answer>;
  /** Notes a version that was given out, and returns the sequence it stands for. */
  saw(bucket: number, version: number): number;
  /** Whether the server has answered, with an error. */
  isRefusal(error: unknown): boolean;
  /** What the client itself puts before all keys; known once begun. */
  keyPrefix(): string;
}

interface Bucket {
  readonly name: string;
  /** The key of its counter. */
  readonly counter: string;
  /** The highest version it is known to have given out. */
  last: number;
}

/**
 * What every script on a bucket starts with. `KEYS[1]` is the bucket's counter, `ARGV[1]` the highest
 * version that this store has seen in it; in a cluster `ARGV` ends with the highest seen in any. A
 * script returns the server's time in seconds and microseconds, and the values asked for; or `lost`
 * alone.
 */
const START = `
local time = redis.call('TIME')
`;

/** Returns `lost` if this is not the ledger that was opened, or an older state of it. */
export const CHECK_LOSS = `
if tonumber(redis.call('GET', KEYS[1]) or 0) < tonumber(ARGV[1]) then return {'lost'} end
`;

/**
 * Gives out the next version, as `version`; checks for loss at the same time. Numbers become text by
 * `%.0f`: Lua's own conversion loses digits after the fourteenth.
 */
export const NEXT_VERSION = `
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('DEL', KEYS[1]) end
if count <= tonumber(ARGV[1]) then return {'lost'} end
local version = string.format('%.0f', count)
`;

/** The same for one of many buckets: a later change has the higher version in another bucket too. */
export const NEXT_VERSION_IN_CLUSTER = `
local count = tonumber(redis.call('GET', KEYS[1]) or 0)
if count < tonumber(ARGV[1]) then return {'lost'} end
count = math.max(time[1] * 1000000 + time[2], count + 1, ARGV[#ARGV] + 1)
local version = string.format('%.0f', count)
redis.call('SET', KEYS[1], version)
`;

export const script = (body: string): Script => named(START + body);

const named = (text: string): Script => ({
  text,
  sha: createHash("sha1").update(text).digest("hex"),
});

/** Reads texts. KEYS: counter, what to read. */
export const READ: Script = script(`${CHECK_LOSS}
local found = {time[1], time[2]}
for index = 2, #KEYS do found[index + 1] = redis.call('GET', KEYS[index]) or '' end
return found
`);

/**
 * Names a bucket that has no name. The counter begins at the time, so that versions of a lost ledger
 * do not come back. KEYS: name, counter of the new name. ARGV: the new name, a name to replace.
 */
const NAME: Script = named(`
local name = redis.call('GET', KEYS[1])
if not name or name == ARGV[2] then
  local time = redis.call('TIME')
  name = ARGV[1]
  redis.call('SET', KEYS[1], name)
  redis.call('SET', KEYS[2], string.format('%.0f', time[1] * 1000000 + time[2]))
end
return {name, KEYS[1]}
`);

const NO_SCRIPT = "0".repeat(40);

export function createSession(connection: Connection, layout: Layout): Session {
  let buckets: readonly Bucket[] = [];
  let highest = 0;
  let keyPrefix = "";
  let lost = false;
  let recovering: Promise<unknown> | undefined;
  /** The class of the client's error for an error reply. */
  let errorReply: (new (...args: never[]) => Error) | undefined;

  const isRefusal = (error: unknown) => errorReply !== undefined && error instanceof errorReply;

  /** Without `await` on the way that goes well: a move is a chain of few promises. */
  function run({ sha, text }: Script, keys: string[], args: string[]): Promise<string[]> {
    if (connection.isClosed()) {
      const why = "is not connected, or was closed.";
      return Promise.reject(new InvalidInputError("redis.client", why));
    }
    return connection.run("EVALSHA", sha, keys, args).then(textsIn, async (error: unknown) => {
      // The server may not know the script. Any other refusal comes again with the text; and if the
      // script did run, the record has its nonce.
      if (!isRefusal(error)) throw error;
      return textsIn(await connection.run("EVAL", text, keys, args));
    });
  }

  /** Provoked, because clients tell an error reply from a lost connection by its class alone. */
  async function learnErrorReply(): Promise<void> {
    const key = layout.key(0, "name");
    const error: unknown = await connection.run("EVALSHA", NO_SCRIPT, [key], []).catch((it) => it);
    if (error instanceof Error) errorReply = error.constructor as typeof errorReply;
  }

  async function beginBucket(bucket: number, replace = ""): Promise<Bucket & { now: number }> {
    const nameKey = layout.key(bucket, "name");
    const fresh = `${layout.buckets}-${randomBytes(12).toString("base64url")}`;
    const keys = [nameKey, layout.key(bucket, "counter", fresh)];
    const [name = "", fullKey = ""] = await run(NAME, keys, [fresh, replace]);
    keyPrefix = fullKey.slice(0, fullKey.length - nameKey.length);
    if (!name.startsWith(`${layout.buckets}-`)) {
      throw new InvalidInputError(
        "redis.client",
        "holds a ledger made through a client of the other kind, single or cluster.",
      );
    }
    const counter = layout.key(bucket, "counter", name);
    const { now, values } = answerIn(await run(READ, [counter, counter], ["0"]));
    // A name without its counter: something was lost, so it is another ledger from here on.
    if (values[0] === "") return beginBucket(bucket, name);
    return { name, counter, last: Number(values[0]), now };
  }

  async function begin(): Promise<Incarnation> {
    const numbers = Array.from({ length: layout.buckets }, (_, bucket) => bucket);
    const begun = await Promise.all(numbers.map((bucket) => beginBucket(bucket)));
    buckets = begun;
    highest = Math.max(...begun.map(({ last }) => last));
    const names = begun.map(({ name }) => name);
    return {
      // One lost bucket makes it another ledger.
      id:
        names.length === 1
          ? String(names[0])
          : createHash("sha256").update(names.join("\n")).digest("hex"),
      sequence: highest,
      now: Math.max(...begun.map(({ now }) => now)),
    };
  }

  const runOn = (bucket: number, script: Script, keys: string[], args: string[]) => {
    const { counter = "", last = 0 } = buckets[bucket] ?? {};
    const inAll = layout.buckets > 1 ? [String(highest)] : [];
    return run(script, [counter, ...keys], [String(last), ...args, ...inAll]);
  };

  return {
    layout,
    isRefusal,
    keyPrefix: () => keyPrefix,

    async begin() {
      // Each time: what the server could not answer the last time was no error reply.
      if (!connection.isClosed()) await learnErrorReply();
      const incarnation = await begin();
      lost = false;
      return incarnation;
    },

    async ask(bucket, script, keys, args = []) {
      const reply = await runOn(bucket, script, keys, args);
      if (reply[0] !== "lost") return answerIn(reply);
      lost = true;
      recovering ??= begin().finally(() => {
        recovering = undefined;
      });
      await recovering;
      const again = await runOn(bucket, script, keys, args);
      if (again[0] !== "lost") return answerIn(again);
      throw new InvalidInputError("redis.client", "loses what was just written to it.");
    },

    saw(bucket, version) {
      const seen = buckets[bucket];
      if (seen) seen.last = Math.max(seen.last, version);
      highest = Math.max(highest, version);
      return lost ? 0 : version;
    },
  };
}

const answerIn = ([seconds, microseconds, ...values]: readonly string[]): Answer => ({
  now: Number(seconds) * 1_000 + Math.floor(Number(microseconds) / 1_000),
  values,
});

/** A list; or one text, which client and server handle a tenth faster, where a script runs often. */
function textsIn(reply: unknown): string[] {
  if (typeof reply === "string") return reply.split("|");
  if (Array.isArray(reply)) return reply.map(String);
  throw new InvalidInputError("redis.client", "must return the reply of a script as text.");
}
