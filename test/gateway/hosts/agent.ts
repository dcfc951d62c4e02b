/**
 * A host as a process: an agent without a model, which calls again whatever it is told until it has seen that the
 * payment is made, or has called often enough. It gives up waiting for an answer when it gets a line on its standard
 * input: no clock decides. `agent.ts LIBRARY TASK`
 *
 * Each line that it prints is what the model would have read.
 *
 * @module
 */

import type { Connect, Connection, Program } from "./client.ts";

/** What it is asked to do. */
export interface Task {
  readonly program: Program;
  /** The payment is wanted so often, each time by a person who has seen the payment before. */
  readonly wanted: number;
  /** The model does again what it is told to be done already: the person has said so. */
  readonly doesAgain: boolean;
}

/** Of one wish. */
const MOST_CALLS = 4;

const [library = "", given = ""] = process.argv.slice(2);
const { program, wanted, doesAgain }: Task = JSON.parse(given);
const { connect }: { connect: Connect } = await import(`./clients/${library}.ts`);
let connection: Connection | undefined;
let giveUp = new AbortController();
process.stdin.on("data", () => giveUp.abort(new Error("The host waits no longer.")));

async function call(tool: string, args: Record<string, unknown>): Promise<string> {
  connection ??= await connect(program);
  giveUp = new AbortController();
  return connection.call(tool, args, giveUp.signal);
}

function hear(words: string): string {
  process.stdout.write(`${JSON.stringify(words)}\n`);
  return words;
}

async function pay(): Promise<void> {
  for (let calls = 1; calls <= MOST_CALLS; calls += 1) {
    try {
      const words = hear(await call("pay", { to: "ana", cents: 400 }));
      const [, operation] = /"operation":"([\w-]+)"/.exec(words) ?? [];
      const isDone = words.includes("Already done");
      if (isDone && doesAgain) hear(await call("holdfire_do_again", { operation, why: "wanted" }));
      if (words.includes("Paid")) return;
    } catch (error) {
      hear(error instanceof Error ? error.message : String(error));
      // First as most do, on the same connection; then on a new one.
      if (calls === 1) continue;
      await connection?.close().catch(() => {});
      connection = undefined;
    }
  }
}

for (let wish = 1; wish <= wanted; wish += 1) {
  if (wish > 1) await call("list_payments", {});
  await pay();
}
await connection?.close().catch(() => {});
process.exit();
