/**
 * A client for the conformance suite: does what each scenario wants of a client, with or without the guard.
 * `conformance-client.ts v1|v2 bare|guarded URL`
 *
 * @module
 */

import {
  Client as SecondClient,
  StreamableHTTPClientTransport as SecondHttp,
} from "@modelcontextprotocol/client";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { createHoldfire } from "../../../src/create.ts";
import { guardMcpClient } from "../../../src/integrations/mcp/index.ts";
import { memoryStore } from "../../../src/stores/memory.ts";
import { authorized } from "./conformance-auth.ts";

const [version, form, address = ""] = process.argv.slice(2);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const url = new URL(address);
const info = { name: "holdfire-conformance", version: "1.0.0" };
const capabilities = { elicitation: { form: { applyDefaults: true } } };
const accept = async () => ({ action: "accept" as const, content: {} });

function newClient() {
  if (version === "v1") {
    const client = new FirstClient(info, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, accept);
    return client;
  }
  const client = new SecondClient(info, { capabilities });
  client.setRequestHandler("elicitation/create", accept);
  return client as unknown as FirstClient;
}

const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
const bare = newClient();
const client =
  form === "guarded"
    ? guardMcpClient(bare, hf, { scope: "conformance", tools: { "*": "write" } })
    : bare;

async function work(): Promise<void> {
  const { tools } = await client.listTools();
  for (const { name } of tools) {
    await client.callTool({ name, arguments: name === "add_numbers" ? { a: 5, b: 3 } : {} });
  }
}

if (scenario.startsWith("auth/")) {
  await authorized(client, url, work);
} else {
  const transport = version === "v1" ? new FirstHttp(url) : (new SecondHttp(url) as never);
  await client.connect(transport);
  await work();
}
await client.close();
await hf.close();
