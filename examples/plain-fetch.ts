/**
 * fetch: a bank that knows keys, a lost reply, and a job that is run again. One payout.
 *
 *     npx node examples/plain-fetch.ts
 *
 * @module
 */

import { createHoldfire } from "holdfire";
import { createFetch } from "holdfire/fetch";
import { memoryStore } from "holdfire/memory";
import { startWorld } from "./support/world.ts";

const { bank, end } = await startWorld({ keyed: true });
// Yours would be createHoldfire({ app }): its ledger is a file, and outlives the process.
const hf = createHoldfire({ app: "payments-example", store: memoryStore() });

// This bank pays once per Idempotency-Key, for a day. So a lost reply may be asked for again.
const fetch = createFetch(hf, { keyed: { forMs: 24 * 3_600_000 } });

async function payInvoice(invoice: string): Promise<number> {
  const response = await hf.scope(`invoice-${invoice}`, () =>
    fetch(bank.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ payee: "ana", cents: 40_00 }),
    }),
  );
  return response.status;
}

console.log(await payInvoice("7"));
// The queue delivers the job a second time.
console.log(await payInvoice("7"));
await end(hf);
