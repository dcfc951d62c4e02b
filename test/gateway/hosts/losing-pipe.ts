/**
 * A program between host and server that passes everything on, but that it asks before each answer to a payment whether
 * it is to be lost. `losing-pipe.ts SERVICE COMMAND ARGS...`
 *
 * @module
 */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [service = "", command = "", ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const payments = new Set<unknown>();

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === "tools/call" && params.name === "pay") payments.add(id);
    child.stdin.write(`${line}\n`);
  })
  .on("close", () => child.stdin.end());
// A server that is gone is told of by its exit.
child.stdin.on("error", () => {});
child.on("exit", (code) => process.exit(code ?? 1));

for await (const line of createInterface({ input: child.stdout })) {
  const { id, method } = JSON.parse(line);
  const isPayment = method === undefined && payments.delete(id);
  const fate = isPayment ? await (await fetch(`${service}/answer`)).text() : "kept";
  if (fate === "kept") process.stdout.write(`${line}\n`);
}
