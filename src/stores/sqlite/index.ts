/**
 * Keeps the ledger in a SQLite file. The default: no server, safe across processes, durable on return.
 *
 * Subpath export `"holdfire/sqlite"`. It needs no driver: Node brings SQLite along.
 *
 * @module
 */

import { resolve } from "node:path";
import { InvalidInputError } from "../../errors.ts";
import type { Store, StorePromise } from "../../ledger/store.ts";
import { defaultPath, entryFolder } from "../default-path.ts";
import type { Durability } from "./connect.ts";
import { pathProblem } from "./file-safety.ts";
import { createStore } from "./store.ts";

export type { Durability } from "./connect.ts";

export interface SqliteStoreOptions {
  /**
   * The file. It is made with its folder, readable by its owner only. Links, folders that everybody can
   * write to, and files of other programs are refused. It must be on a local disk: a network share
   * cannot hold it.
   *
   * @default HOLDFIRE_STORE, else `.holdfire/ledger.db` beside the package.json nearest to the entry script
   */
  readonly path?: string | undefined;
  /**
   * What an acknowledged write survives. `"full"`: a loss of power; each turn of the event loop that
   * writes waits for the disk once. `"process"`: the end of the process, however sudden; about eight
   * times faster for one caller, but a loss of power may lose the last writes, and a call whose claim
   * is lost can be fired again.
   *
   * @default "full"
   */
  readonly durability?: Durability | undefined;
  /**
   * The store's clock, in milliseconds since the epoch, for tests. Leases are measured on it; all
   * processes on one file must agree on it.
   *
   * @default the host's monotonic clock, which cannot be set
   */
  readonly now?: (() => number) | undefined;
}

const PROMISES: Readonly<Record<Durability, StorePromise>> = {
  full: {
    survives: "host",
    mayForget: false,
    forgettingAccepted: false,
    text: "Kept in a file, synced to disk before each answer; it survives a crash and a loss of power, not the loss of the disk.",
  },
  process: {
    survives: "process",
    mayForget: false,
    forgettingAccepted: false,
    text: "Kept in a file, not synced before each answer; it survives the end of the process, but a loss of power may lose the last writes.",
  },
};

export function sqliteStore(options: SqliteStoreOptions = {}): Store {
  const { durability = "full", now } = options;
  const path =
    options.path ?? defaultPath(process.env, entryFolder(process.argv[1], process.cwd()));
  const problem = pathProblem(path);
  if (problem !== undefined) throw new InvalidInputError("sqlite.path", problem);
  if (!Object.hasOwn(PROMISES, durability)) {
    throw new InvalidInputError("sqlite.durability", `must be "full" or "process".`);
  }
  // Resolved now: the process may change its folder before the file is opened.
  return createStore({ path: resolve(path), durability, promise: PROMISES[durability], now });
}
