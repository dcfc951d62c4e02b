/**
 * Runs a program as a user would, who has this Node and none of our settings.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { delimiter, dirname } from "node:path";

export interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

/** What npm and vitest tell their own children would lead another npm back into this folder. */
const OURS =
  /^(?:npm_(?!config_(?:registry|cache|userconfig)$)|INIT_CWD|NODE_(?:OPTIONS|ENV|PATH|V8_COVERAGE)$|VITEST|HOLDFIRE_|FORCE_COLOR)/i;

export function userEnvironment(): Record<string, string | undefined> {
  const { PATH = "", ...rest } = process.env;
  const env = Object.fromEntries(Object.entries(rest).filter(([name]) => !OURS.test(name)));
  return { ...env, PATH: `${dirname(process.execPath)}${delimiter}${PATH}`, NO_COLOR: "1" };
}

export function tryProgram(command: string, args: readonly string[], cwd: string): Ran {
  const options = { cwd, env: userEnvironment(), encoding: "utf8", maxBuffer: 64 * 1_048_576 };
  const { status, stdout, stderr, error } = spawnSync(command, args, options as never);
  if (error) throw error;
  return { status, out: String(stdout), err: String(stderr) };
}

/** What it printed; an error with all it said if it failed. */
export function runProgram(command: string, args: readonly string[], cwd: string): string {
  const { status, out, err } = tryProgram(command, args, cwd);
  if (status === 0) return out;
  throw new Error(`${command} ${args.join(" ")} ended with ${status}\n${out}\n${err}`);
}
