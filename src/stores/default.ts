/**
 * The store and the witness of a holdfire that was given neither: a SQLite file in the project, and
 * marks beside it.
 *
 * @module
 */

import { basename, dirname, join, resolve } from "node:path";
import { InvalidInputError } from "../errors.ts";
import type { Store } from "../ledger/store.ts";
import type { Witness } from "../ledger/witness.ts";
import { fileWitness } from "../ledger/witness-file.ts";
import { defaultPath } from "./sqlite/default-path.ts";
import { diskIsForgotten } from "./sqlite/forgotten-disk.ts";
import { sqliteStore } from "./sqlite.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** On a host known to forget its disk it is refused. */
export function defaultStore(env: Env, cwd: string): Store {
  const forgotten = env.HOLDFIRE_STORE ? undefined : diskIsForgotten(env);
  if (forgotten) {
    throw new InvalidInputError(
      "options.store",
      `is needed: ${forgotten} forgets its disk, and with it what was sent. Pass a redisStore or a postgresStore`,
    );
  }
  return sqliteStore({ path: defaultPath(env, cwd) });
}

/** Beside a file, else in the project. */
export function defaultWitness(store: Store | undefined, env: Env, cwd: string): Witness {
  const path = defaultPath(env, cwd);
  const { name, address = "" } = store ?? { name: "sqlite", address: path };
  if (name === "sqlite") {
    const file = resolve(cwd, address);
    return fileWitness({ folder: join(dirname(file), "witness"), name: basename(file) });
  }
  return fileWitness({ folder: join(dirname(path), "witness"), name: `${name} ${address}` });
}
