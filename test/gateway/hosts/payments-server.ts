/**
 * An MCP server over stdio, by the official SDK, for both revisions of the protocol. What it is asked to do it does at
 * a service elsewhere. `payments-server.ts SERVICE none|write`, which is what it says of its tool
 *
 * @module
 */

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const [service = "", hints = "none"] = process.argv.slice(2);
const { pid, ppid } = process;
const payment = z.object({ to: z.string(), cents: z.number() });
const say = (text: string) => ({ content: [{ type: "text" as const, text }] });

serveStdio(() => {
  const server = new McpServer({ name: "payments", version: "1.0.0" });
  const annotations = hints === "write" ? { readOnlyHint: false, destructiveHint: false } : {};
  const pay = { description: "Pays.", inputSchema: payment, annotations };
  server.registerTool("pay", pay, async (args) => {
    const body = JSON.stringify({ ...args, pid, ppid });
    const answer = await fetch(`${service}/pay`, { method: "POST", body });
    return say(`Paid, as payment ${await answer.text()}.`);
  });
  const list = { description: "Lists payments.", annotations: { readOnlyHint: true } };
  server.registerTool("list_payments", list, async () =>
    say(await (await fetch(`${service}/payments`)).text()),
  );
  return server;
});
