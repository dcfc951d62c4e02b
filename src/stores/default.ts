/**
 * The default store and witness, for a holdfire that was given none: a SQLite file in the project,
 * with the witness's files beside it.
 *
 * @module
 */

import { basename, dirname, join, resolve } from "node:path";
import { InvalidInputError } from "../errors.ts";
import type { Store } from "../ledger/store.ts";
import type { Witness } from "../ledger/witness/witness.ts";
import { fileWitness } from "../ledger/witness/witness-file.ts";
import { defaultPath, diskIsForgotten } from "./sqlite/default-path.ts";

import { sqliteStore } from "./sqlite/index.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Throws on a host that is known to lose its disk. */
export function defaultStore(env: Env, cwd: string): Store {
  const forgotten = env.HOLDFIRE_STORE ? undefined : diskIsForgotten(env);
  if (forgotten) {
    throw new InvalidInputError(
      "options.store",
      `is needed: ${forgotten} does not keep its disk, so the ledger would be lost. Pass a redisStore or a postgresStore.`,
    );
  }
  return sqliteStore({ path: defaultPath(env, cwd) });
}

/** In the folder of a SQLite file, else in the project. */
export function defaultWitness(store: Store | undefined, env: Env, cwd: string): Witness {
  const path = defaultPath(env, cwd);
  const { name, address = "" } = store ?? { name: "sqlite", address: path };
  if (name === "sqlite") {
    const file = resolve(cwd, address);
    return fileWitness({ folder: join(dirname(file), "witness"), name: basename(file) });
  }
  return fileWitness({ folder: join(dirname(path), "witness"), name: `${name} ${address}` });
}
