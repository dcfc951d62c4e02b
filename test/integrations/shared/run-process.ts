/**
 * Runs a script in a process of its own and gives back what it printed.
 *
 * @module
 */

import { spawn } from "node:child_process";

export function runProcess(script: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve(printed));
  });
}
