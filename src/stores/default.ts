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
import { defaultPath, diskIsForgotten, entryFolder } from "./default-path.ts";
import { sqliteStore } from "./sqlite/index.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** How the program was started. The command line has no entry script of its own: it asks for that of a folder. */
export interface Start {
  readonly entry?: string | undefined;
  readonly cwd: string;
}

const pathOf = (env: Env, { entry, cwd }: Start): string =>
  defaultPath(env, entryFolder(entry, cwd));

/** Throws on a host that is known to lose its disk. */
export function defaultStore(env: Env, start: Start): Store {
  const forgotten = env.HOLDFIRE_STORE ? undefined : diskIsForgotten(env);
  if (forgotten) {
    throw new InvalidInputError(
      "options.store",
      `is needed: ${forgotten} does not keep its disk, so the ledger in "${pathOf(env, start)}" would be lost. Pass a redisStore or a postgresStore.`,
    );
  }
  return sqliteStore({ path: pathOf(env, start) });
}

/** In the folder of a SQLite file, else in the project. */
export function defaultWitness(store: Store | undefined, env: Env, start: Start): Witness {
  const path = resolve(start.cwd, pathOf(env, start));
  const { name, address = "" } = store ?? { name: "sqlite", address: path };
  if (name === "sqlite") {
    const file = resolve(start.cwd, address);
    return fileWitness({ folder: join(dirname(file), "witness"), name: basename(file) });
  }
  return fileWitness({ folder: join(dirname(path), "witness"), name: `${name} ${address}` });
}
