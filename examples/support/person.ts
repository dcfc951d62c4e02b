/**
 * A person at the command line, who approves whatever waits: `holdfire inbox` and `holdfire approve`, as processes of their own.
 *
 * @module
 */

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const HOLDFIRE = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));

/** `ledger`: the path of its file. */
export async function approveAll(ledger: string, by: string): Promise<void> {
  const { items } = JSON.parse(await holdfire("inbox", "--json", "--store", ledger));
  for (const { operation, digest, answered } of items) {
    if (answered) continue;
    await holdfire("approve", operation.id, "--digest", digest, "--by", by, "--store", ledger);
  }
}

/** What it prints. `inbox` ends with 1 if something waits, which is what it is asked for. */
const holdfire = (...argv: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, [HOLDFIRE, ...argv], (error, printed, errors) => {
      if (error && !(argv[0] === "inbox" && error.code === 1)) reject(new Error(errors || printed));
      else resolve(printed);
    });
  });
