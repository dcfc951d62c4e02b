/**
 * Runs scripts by name, and by text when the server has forgotten the name.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { Connection } from "./connection.ts";
import type { Script } from "./script.ts";

/** What our scripts reply: texts, the first of which says what happened. */
export type Reply = readonly string[];

export interface Runner {
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<Reply>;
  /** Makes all primaries remember the scripts, and learns what a refusal by the server looks like. */
  prepare(scripts: readonly Script[], key: string): Promise<void>;
}

const NO_SCRIPT = "0".repeat(40);

export function createRunner(connection: Connection): Runner {
  /** The class of the client's error for an error reply; unknown until one was seen. */
  let refusal: (new (...args: never[]) => Error) | undefined;

  function assertUsable(): void {
    if (!connection.isClosed()) return;
    throw new InvalidInputError("redis.client", "is not connected, or was closed.");
  }

  return {
    // Chained, not awaited: each turn through the queue of promises shows in the time of a call.
    run({ sha, text }, keys, args) {
      assertUsable();
      return connection.run("EVALSHA", sha, keys, args).then(replyIn, async (error: unknown) => {
        // The server said no, perhaps because it was restarted and does not know the script. Any
        // other no will be said again; and a write that was done all the same knows its own nonce.
        if (!refusal || !(error instanceof refusal)) throw error;
        return replyIn(await connection.run("EVAL", text, keys, args));
      });
    },

    async prepare(scripts, key) {
      assertUsable();
      // Provoked, because clients tell a reply from a broken connection by the error's class alone.
      const error = await connection.run("EVALSHA", NO_SCRIPT, [key], []).catch(thrown);
      refusal = error instanceof Error ? (error.constructor as typeof refusal) : undefined;
      const primaries = await connection.primaries();
      // Only saves a trip later: a server that will not load them still runs them.
      await Promise.allSettled(
        primaries.flatMap((ask) => scripts.map(({ text }) => ask("SCRIPT", "LOAD", text))),
      );
    },
  };
}

const thrown = (error: unknown): unknown => error;

/** A list, or, from scripts that run often, one text. */
function replyIn(reply: unknown): Reply {
  if (typeof reply === "string") return reply.split("|");
  if (Array.isArray(reply))
    return reply.map((item: unknown) => (item === null ? "" : String(item)));
  throw new InvalidInputError("redis.client", "answers a script with something else than texts.");
}
