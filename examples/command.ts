/**
 * A program as a tool: it pays and dies, and the job is run again. One payout.
 *
 *     npx node examples/command.ts
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { createHoldfire } from "holdfire";
import { commandTool } from "holdfire/command";
import { memoryStore } from "holdfire/memory";
import { type Payout, startWorld } from "./support/world.ts";

const { bank, end } = await startWorld({ keyed: true });
// Yours would be createHoldfire({ app }): its ledger is a file, and outlives the process.
const hf = createHoldfire({ app: "payments-example", store: memoryStore() });

const pay = hf.tool({
  name: "pay",
  kind: "write",
  // The program hands the key on to a bank that pays once per key, for a day.
  keyed: { forMs: 24 * 3_600_000 },
  ...commandTool<Payout>({
    file: process.execPath,
    args: [
      fileURLToPath(new URL("support/pay-program.ts", import.meta.url)),
      { flag: "--payee", from: "payee" },
      { flag: "--cents", from: "cents" },
    ],
    keyFlag: "--idempotency-key",
    setEnv: { BANK_URL: bank.url },
  }),
});

const payInvoice = (invoice: string) =>
  pay.outcome({ payee: "ana", cents: 40_00 }, { scope: `invoice-${invoice}` });

// Its first run ends with 1, which proves nothing; the second, with the same key, finds it paid.
const first = await payInvoice("7");
console.log(first.status, "after", first.attempts, "attempts");
const second = await payInvoice("7");
console.log(second.status, second.replayed ? "from the ledger" : "by running it");
await end(hf);
