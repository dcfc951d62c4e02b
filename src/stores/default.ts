/**
 * The store and the witness of a holdfire that was given neither: a SQLite file in the project, and
 * marks beside it.
 *
 * @module
 */

import { basename, dirname, join } from "node:path";
import { InvalidInputError } from "../errors.ts";
import type { Store } from "../ledger/store.ts";
import { memoryWitness, type Witness } from "../ledger/witness.ts";
import { fileWitness } from "../ledger/witness-file.ts";
import { lazyStore } from "./lazy.ts";
import { defaultPath } from "./sqlite/default-path.ts";
import { diskIsForgotten } from "./sqlite/forgotten-disk.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Loaded at the first write. On a host known to forget its disk it is refused. */
export function defaultStore(env: Env, cwd: string): Store {
  const path = defaultPath(env, cwd);
  const store = lazyStore("sqlite", async () => {
    const forgotten = env.HOLDFIRE_STORE ? undefined : diskIsForgotten(env);
    if (forgotten) {
      throw new InvalidInputError(
        "options.store",
        `is needed: ${forgotten} forgets its disk, and with it what was sent. Pass a redisStore or a postgresStore`,
      );
    }
    const { sqliteStore } = await import("./sqlite.ts");
    return sqliteStore({ path });
  });
  return {
    ...store,
    address: path,
    get promise() {
      return store.promise;
    },
  };
}

/** Beside a file, else in the project. A store that dies with the process needs none outside it. */
export function defaultWitness({ name, address }: Store, env: Env, cwd: string): Witness {
  if (address === undefined) return memoryWitness();
  if (name === "sqlite") {
    return fileWitness({ folder: join(dirname(address), "witness"), name: basename(address) });
  }
  const folder = join(dirname(defaultPath(env, cwd)), "witness");
  return fileWitness({ folder, name: `${name} ${address}` });
}
