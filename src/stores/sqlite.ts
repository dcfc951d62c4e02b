/**
 * Keeps the ledger in a SQLite file. The default: no server, safe across processes, durable on return.
 *
 * Subpath export `"holdfire/sqlite"`. It needs no driver: Node brings SQLite along.
 *
 * @module
 */

import { resolve } from "node:path";
import { InvalidInputError } from "../errors.ts";
import { systemClock } from "../lang/clock.ts";
import type { Store, StorePromise } from "../ledger/store.ts";
import { type Backend, localBackend } from "./sqlite/backend.ts";
import type { Durability } from "./sqlite/connect.ts";
import { defaultPath } from "./sqlite/default-path.ts";
import { pathProblem } from "./sqlite/place.ts";
import { remoteBackend } from "./sqlite/remote.ts";
import { createStore } from "./sqlite/store.ts";

export type { Durability } from "./sqlite/connect.ts";
export { defaultPath } from "./sqlite/default-path.ts";
export { diskIsForgotten } from "./sqlite/forgotten-disk.ts";

export interface SqliteStoreOptions {
  /**
   * The file. It is made with its folder, readable by its owner alone. Refused are links, folders that
   * everybody can write to, and files of other programs. Keep it on a local disk: a network share
   * cannot hold it.
   *
   * @default HOLDFIRE_STORE, else `.holdfire/ledger.db` beside the nearest package.json
   */
  readonly path?: string | undefined;
  /**
   * What a write outlives once it is acknowledged. `"full"`: a loss of power; each turn of the event
   * loop that writes waits for the disk once. `"process"`: the end of the process, however sudden;
   * some eight times faster for one caller, but a loss of power may take the last writes along, and a
   * call whose claim is gone can then be fired again.
   *
   * @default "full"
   */
  readonly durability?: Durability | undefined;
  /**
   * Runs the database in a thread of its own. The event loop then never waits for the disk, and each
   * write takes about half as long again. Worth it where the disk is slow and latency elsewhere
   * matters.
   *
   * @default false
   */
  readonly worker?: boolean | undefined;
  /**
   * The store's clock, in milliseconds since the epoch, for tests. Leases are measured on it; all
   * processes on one file must agree on it.
   *
   * @default the host's monotonic clock, which nobody can set
   */
  readonly now?: (() => number) | undefined;
}

const PROMISES: Readonly<Record<Durability, StorePromise>> = {
  full: {
    survives: "host",
    mayForget: false,
    forgettingAccepted: false,
    text: "Kept in a file, synced to disk before each answer; it outlives a crash and a loss of power, not the loss of the disk.",
  },
  process: {
    survives: "process",
    mayForget: false,
    forgettingAccepted: false,
    text: "Kept in a file, not synced before each answer; it outlives the process, but a loss of power may take the last writes along.",
  },
};

export function sqliteStore(options: SqliteStoreOptions = {}): Store {
  const { durability = "full", worker = false, now } = options;
  const path = options.path ?? defaultPath(process.env, process.cwd());
  const problem = pathProblem(path);
  if (problem !== undefined) throw new InvalidInputError("sqlite.path", problem);
  if (!Object.hasOwn(PROMISES, durability)) {
    throw new InvalidInputError("sqlite.durability", `must be "full" or "process".`);
  }
  if (typeof worker !== "boolean")
    throw new InvalidInputError("sqlite.worker", "must be a boolean.");
  // Resolved now: the process may change its folder before it is opened.
  const engine = { path: resolve(path), durability, hostClock: now === undefined };
  return createStore({
    address: engine.path,
    promise: PROMISES[durability],
    backend: (onLost): Backend => (worker ? remoteBackend(engine, onLost) : localBackend(engine)),
    now,
    clock: systemClock,
    random: Math.random,
  });
}
