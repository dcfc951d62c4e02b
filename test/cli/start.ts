/**
 * The real program in a process of its own.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { resolve } from "node:path";

export interface Ended {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

/** Not the synchronous kind: a server in this process must be able to answer. */
export function start(
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>> = {},
  main: string = resolve("src/cli/main.ts"),
): Promise<Ended> {
  const child = spawn(process.execPath, [main, ...argv], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  return new Promise((done, reject) => {
    child.on("error", reject);
    child.on("close", (exitCode) => done({ exitCode, out, err }));
  });
}
