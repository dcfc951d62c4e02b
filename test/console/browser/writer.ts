/**
 * A program of its own on a ledger: node writer.ts KIND LOCATION NAMESPACE EFFECTS MODE COUNT
 *
 * - `ask`: a refund that needs approval; it waits, makes the call again, and prints what became of it.
 * - `storm`: so many notes, each in a scope of its own, some of whose replies are lost.
 *
 * Each refund that is made is a line in the file EFFECTS.
 *
 * @module
 */

import { appendFileSync } from "node:fs";
import process from "node:process";
import { createHoldfire } from "../../../src/create.ts";
import { consoleTools } from "../console-world.ts";
import { openStore, type StoreKind } from "./ledgers.ts";

const [kind = "sqlite", location = "", namespace = "", effects = "", mode = "", count = "1"] =
  process.argv.slice(2);
const { store, end } = await openStore(kind as StoreKind, location, namespace);
const hf = createHoldfire({ store });
const made: unknown[] = [];
const { refund, note, post } = consoleTools(hf, {
  push: (...args: unknown[]) => {
    appendFileSync(effects, `${JSON.stringify(args)}\n`);
    return made.push(...args);
  },
} as unknown as unknown[]);

if (mode === "ask") {
  const args = { payee: "Eve Adams", cents: 4_000 };
  const options = { scope: `chat-${count}` };
  const held = await refund.outcome(args, options);
  process.stdout.write(`${held.status} ${held.id}\n`);
  await hf.approvals.wait(held.id, { deadlineMs: 60_000 });
  process.stdout.write(`${(await refund.outcome(args, options)).status}\n`);
} else {
  for (let n = 0; n < Number(count); n += 1) {
    const options = { scope: `storm-${process.pid}-${n}` };
    const isLost = n % 10 === 9;
    await (isLost
      ? post.outcome({ text: `${n}` }, options)
      : note.outcome({ text: `${n}` }, options));
  }
  process.stdout.write("done\n");
}
await hf.close();
await end();
