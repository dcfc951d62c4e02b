/**
 * A payments server that speaks MCP over Streamable HTTP, in front of the bank's HTTP API. One tool pays,
 * one finds. It does what most servers do: a failed request becomes a result with `isError`.
 *
 * @module
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { KEY_META } from "holdfire/mcp";
import { z } from "zod";
import type { Bank } from "./world.ts";

export interface PaymentsMcp {
  /** A new client, connected. */
  connect(): Promise<Client>;
  close(): Promise<void>;
}

/** `name`: what the tool that pays is called. A bank that cannot be read gives no tool that finds. */
export async function startPaymentsMcp(
  bank: Pick<Bank, "pay"> & Partial<Bank>,
  name: string,
): Promise<PaymentsMcp> {
  const http = createServer(async (request, response) => {
    // A server for each request: it keeps nothing between them.
    const transport = new StreamableHTTPServerTransport({});
    await serverOf(bank, name).connect(transport as Transport);
    await transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const { port } = http.address() as AddressInfo;

  return {
    async connect() {
      const client = new Client({ name: "clerk", version: "1.0.0" });
      const url = new URL(`http://127.0.0.1:${port}/mcp`);
      await client.connect(new StreamableHTTPClientTransport(url) as Transport);
      return client;
    },
    close() {
      http.closeAllConnections();
      return new Promise((resolve) => http.close(() => resolve()));
    },
  };
}

function serverOf({ pay, find }: Pick<Bank, "pay"> & Partial<Bank>, name: string): McpServer {
  const server = new McpServer({ name: "payments", version: "1.0.0" });
  const inputSchema = { payee: z.string(), cents: z.number().int() };
  server.registerTool(
    name,
    { description: "Pays a payee.", inputSchema },
    async (payout, extra) => {
      const key = extra._meta?.[KEY_META];
      return textOf(await pay(payout, typeof key === "string" ? { key } : {}));
    },
  );
  if (find) {
    const about = { description: "Finds payouts by key.", inputSchema: { key: z.string() } };
    server.registerTool("find_payouts", about, async ({ key }) => textOf(await find(key)));
  }
  return server;
}

const textOf = (value: unknown) => ({
  content: [{ type: "text" as const, text: JSON.stringify(value) }],
});
