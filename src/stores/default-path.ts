/**
 * Where the ledger is by default, and the hosts on which it must not be there.
 *
 * @module
 */

import { existsSync, realpathSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { InvalidInputError } from "../errors.ts";
import { PROJECT_FOLDER } from "../ledger/private-folder.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** In the project, so that all its processes find the same ledger. */
const IN_PROJECT = join(PROJECT_FOLDER, "ledger.db");

/** `HOLDFIRE_STORE`, else `.holdfire/ledger.db` beside the package.json nearest to `from`, else in `from`. */
export function defaultPath(env: Env, from: string): string {
  const named = env.HOLDFIRE_STORE;
  // Not resolved: a value that is no path, such as a URI, must still be recognised when it is checked.
  if (named) return named;
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    if (isThere(join(folder, "package.json"))) return join(folder, IN_PROJECT);
    if (folder === dirname(folder)) return join(resolve(from), IN_PROJECT);
  }
}

/** Under `--permission` a file that may not be read looks absent, and the ledger would be another one. */
function isThere(file: string): boolean {
  if (process.permission?.has("fs.read", file) === false) {
    throw new InvalidInputError(
      "sqlite.path",
      `cannot be found: Node's permissions keep "${file}" from this process. Start it with --allow-fs-read="${file}", or set HOLDFIRE_STORE.`,
    );
  }
  return existsSync(file);
}

/**
 * Where a program looks for its project: the folder of its entry script, `process.argv[1]`, so that one
 * job has one ledger wherever it is started from. The working folder if there is no script, or if it is
 * the command of a dependency (`next start`), which runs the project it is started in.
 */
export function entryFolder(entry: string | undefined, cwd: string): string {
  if (!entry) return cwd;
  const folder = dirname(realPath(resolve(cwd, entry)));
  return folder.split(sep).includes("node_modules") || !isThere(folder) ? cwd : folder;
}

/** Node also starts a script whose extension was left out: then only its folder is there. */
function realPath(script: string): string {
  try {
    return realpathSync(script);
  } catch {
    return script;
  }
}

/** Only hosts that always lose their disk between runs, not those where a volume can be mounted. */
const HOSTS: readonly (readonly [variable: string, host: string])[] = [
  ["VERCEL", "Vercel"],
  ["NETLIFY", "Netlify"],
  ["AWS_LAMBDA_FUNCTION_NAME", "AWS Lambda"],
  ["K_SERVICE", "Cloud Run"],
  ["CLOUD_RUN_JOB", "Cloud Run"],
  ["FUNCTION_TARGET", "Cloud Functions"],
  ["CF_PAGES", "Cloudflare Pages"],
  ["DYNO", "Heroku"],
];

/** The name of this host if it is known to lose its disk between runs, else `undefined`. */
export function diskIsForgotten(env: Env): string | undefined {
  return HOSTS.find(([variable]) => env[variable])?.[1];
}
