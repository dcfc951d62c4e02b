/**
 * MCP: a guarded client, a server whose reply is lost, and a job that is run again. One payout.
 *
 *     npx node examples/mcp.ts
 *
 * @module
 */

import { absent, committed, createHoldfire } from "holdfire";
import { guardMcpClient } from "holdfire/mcp";
import { memoryStore } from "holdfire/memory";
import { startPaymentsMcp } from "./support/payments-mcp.ts";
import { startWorld } from "./support/world.ts";

const { bank, end } = await startWorld();
// Yours would be createHoldfire({ app }): its ledger is a file, and outlives the process.
const hf = createHoldfire({ app: "payments-example", store: memoryStore() });

// An MCP server over HTTP with the tools "pay" and "find_payouts". Any server will do.
const server = await startPaymentsMcp(bank, "pay");
const client = await server.connect();

const mcp = guardMcpClient(client, hf, {
  tools: {
    find_payouts: "read",
    pay: {
      kind: "write",
      // Asked after a lost reply, before anything is sent again; here by a tool of the same server.
      readState: async ({ key }) => {
        const found = await client.callTool({ name: "find_payouts", arguments: { key } });
        const [payout] = JSON.parse(textOf(found));
        const text = JSON.stringify(payout);
        return payout ? committed({ content: [{ type: "text", text }] }) : absent();
      },
    },
  },
});

async function payInvoice(invoice: string): Promise<string> {
  const call = { name: "pay", arguments: { payee: "ana", cents: 40_00 } };
  const result = await hf.scope(`invoice-${invoice}`, () => mcp.callTool(call));
  // What a model reads.
  const { outcome, replayed } = JSON.parse(textOf(result));
  return replayed ? `${outcome}, from the ledger` : outcome;
}

function textOf({ content }: Awaited<ReturnType<typeof client.callTool>>): string {
  const [first] = content as readonly { readonly text?: string }[];
  return first?.text ?? "";
}

console.log(await payInvoice("7"));
// The queue delivers the job a second time.
console.log(await payInvoice("7"));
await end(hf, client, server);
