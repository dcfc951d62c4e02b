/**
 * A program with a ledger of its own: each run that takes effect adds a line to a file.
 *
 *   ledger-program.mjs FILE pay [--amount=N] [--idempotency-key=K] [--dry-run] [--exit=N] [--hang] … [--] NAME
 *
 * @module
 */

import { appendFileSync } from "node:fs";

const [file, verb, ...words] = process.argv.slice(2);
const end = words.indexOf("--");
const flags = (end < 0 ? words : words.slice(0, end)).filter((word) => word.startsWith("--"));
const names = words.filter((word, at) => (end >= 0 && at > end) || !word.startsWith("--"));
const flag = (name) => {
  const found = flags.find((word) => word === name || word.startsWith(`${name}=`));
  return found === undefined ? undefined : found.split("=").slice(1).join("=") || true;
};

if (flag("--dry-run")) {
  const plan = JSON.stringify({ changes: [{ type: "create", target: `payment/${names[0]}` }] });
  console.log(flag("--say") ?? plan);
  process.exit(0);
}
if (flag("--polite")) process.on("SIGTERM", () => process.exit(Number(flag("--exit") ?? 0)));
const env = Object.keys(process.env)
  .filter((name) => !name.startsWith("__"))
  .sort();
appendFileSync(file, `${JSON.stringify({ verb, words, key: flag("--idempotency-key"), env })}\n`);
if (flag("--hang") || flag("--polite")) setInterval(() => {}, 1_000);
else if (flag("--kill")) process.kill(process.pid, "SIGKILL");
else if (flag("--loud")) process.stdout.write("x".repeat(1_000_000));
else {
  console.log(JSON.stringify({ effect: flag("--effect") ?? "created", id: names[0] }));
  process.exitCode = Number(flag("--exit") ?? 0);
}
