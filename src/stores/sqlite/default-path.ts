/**
 * Where the ledger is by default, and the hosts on which it must not be there.
 *
 * @module
 */

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

type Env = Readonly<Record<string, string | undefined>>;

/** In the project, so that all its processes find the same ledger. */
const IN_PROJECT = join(".holdfire", "ledger.db");

/** `HOLDFIRE_STORE`, else `.holdfire/ledger.db` beside the nearest package.json, else in `cwd`. */
export function defaultPath(env: Env, cwd: string): string {
  const named = env.HOLDFIRE_STORE;
  // Not resolved: a value that is no path, such as a URI, must still be recognised when it is checked.
  if (named) return named;
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    if (existsSync(join(folder, "package.json"))) return join(folder, IN_PROJECT);
    if (folder === dirname(folder)) return join(resolve(cwd), IN_PROJECT);
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
