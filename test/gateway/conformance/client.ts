/**
 * A client for the conformance suite: does what each scenario wants of a client, with an HTTP connection of its own or
 * through the gateway. `client.ts bare|gateway URL`
 *
 * Through the gateway the client speaks stdio and the gateway speaks HTTP. The gateway does no OAuth: the client logs in
 * as the server's challenge says, and starts a gateway with the token in a variable of the environment.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  Client as SecondClient,
  StreamableHTTPClientTransport as SecondHttp,
  UnauthorizedError as SecondUnauthorized,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as SecondStdio } from "@modelcontextprotocol/client/stdio";
import { UnauthorizedError as FirstUnauthorized } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { causes } from "../../../src/lang/peek.ts";
import { createPerson, logIn } from "./person.ts";

const [way, address = ""] = process.argv.slice(2);
const url = new URL(address);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const revision = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? "2025-11-25";
const version = revision >= "2026-07-28" ? "v2" : "v1";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const main = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "holdfire-conformance-client-"));
const INFO = { name: "holdfire-conformance", version: "1.0.0" };
const person = createPerson();
/** How often a server may ask for another login. */
const MOST_LOGINS = 2;

interface AnyClient {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ tools: { name: string; inputSchema: unknown }[] }>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  readResource(params: object): Promise<unknown>;
  getPrompt(params: object): Promise<unknown>;
  callTool(params: object): Promise<{ content: { text?: string }[]; isError?: boolean }>;
  close(): Promise<void>;
}

function newClient(): AnyClient {
  const capabilities = { elicitation: { form: { applyDefaults: true } } };
  const content = version === "v1" ? {} : { confirmed: true };
  const accept = async () => ({ action: "accept" as const, content });
  if (version === "v1") {
    const client = new FirstClient(INFO, { capabilities });
    client.setRequestHandler(ElicitRequestSchema, accept);
    return client as unknown as AnyClient;
  }
  const versionNegotiation = { mode: { pin: "2026-07-28" } } as const;
  const client = new SecondClient(INFO, { capabilities, versionNegotiation });
  client.setRequestHandler("elicitation/create", accept);
  return client as unknown as AnyClient;
}

const ARGUMENTS: Record<string, object> = { add_numbers: { a: 5, b: 3 } };

/** What a scenario wants called; without a word of it, every tool of the server's. */
async function work(client: AnyClient): Promise<void> {
  const { tools } = await client.listTools();
  if (scenario === "json-schema-ref-no-deref") return;
  const listed = tools.filter(({ name }) => !name.startsWith("holdfire_"));
  const schema = listed.find(({ name }) => name === "json_schema_2020_12_tool")?.inputSchema;
  const calls: { name: string; arguments: object }[] = schema
    ? [{ name: "json_schema_echo", arguments: { schema } }]
    : (context.toolCalls ?? listed.map(({ name }) => ({ name, arguments: ARGUMENTS[name] ?? {} })));
  for (const call of calls) turnedAway(await client.callTool(call));
  if (scenario !== "http-standard-headers") return;
  for (const { uri } of (await client.listResources()).resources)
    await client.readResource({ uri });
  for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name });
}

/** What the gateway says of a server that wants another login, in an error or in the answer to a call. */
const SAYS = /answered (40[13]):(?:.*It says: (.*)\.$)?/s;

function turnedAway({ content: [first], isError }: Awaited<ReturnType<AnyClient["callTool"]>>) {
  if (isError && SAYS.test(first?.text ?? "")) {
    throw new Error(JSON.parse(first?.text ?? "").message);
  }
}

/** What the gateway says to a first request: a client that finds out the revision does not show it. */
async function firstError(command: string, args: readonly string[]): Promise<string> {
  const gateway = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": INFO,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { _meta };
  const request = { jsonrpc: "2.0", id: 1, method: "server/discover", params };
  gateway.stdin.write(`${JSON.stringify(request)}\n`);
  const [line] = await once(createInterface({ input: gateway.stdout }), "line");
  gateway.stdin.end();
  return JSON.parse(line).error?.message ?? "";
}

async function throughGateway(): Promise<void> {
  let token: string | undefined;
  for (let logins = 0; ; logins += 1) {
    const client = newClient();
    const header = token === undefined ? [] : ["--header", "Authorization: Bearer $TOKEN"];
    const args = [main, "mcp", "--store", join(folder, "ledger.db"), "--url", url.href, ...header];
    const env = { ...(process.env as Record<string, string>), TOKEN: token ?? "" };
    const parameters = { command: process.execPath, args, env };
    const transport = version === "v1" ? new FirstStdio(parameters) : new SecondStdio(parameters);
    try {
      await client.connect(transport);
      await work(client);
      return;
    } catch (error) {
      const isHidden = version === "v2" && logins === 0;
      const said = isHidden ? await firstError(process.execPath, args) : (error as Error).message;
      const [, status, challenge = ""] = SAYS.exec(said) ?? [];
      if (status === undefined || logins >= MOST_LOGINS) throw error;
      token = await logIn(version, person, url, { status: Number(status), challenge });
    } finally {
      await client.close();
    }
  }
}

async function bare(): Promise<void> {
  const client = newClient();
  for (let logins = 0; ; logins += 1) {
    const options = { authProvider: person as never };
    const transport = version === "v1" ? new FirstHttp(url, options) : new SecondHttp(url, options);
    try {
      await client.connect(transport);
      await work(client);
      return;
    } catch (error) {
      const isUnauthorized = [FirstUnauthorized, SecondUnauthorized].some((kind) =>
        causes(error).some((link) => link instanceof kind),
      );
      if (!isUnauthorized || logins >= MOST_LOGINS) throw error;
      const callback = person.callback();
      await transport.finishAuth((version === "v1" ? callback.get("code") : callback) as never);
    } finally {
      await client.close();
    }
  }
}

try {
  await (way === "bare" ? bare() : throughGateway());
} finally {
  rmSync(folder, { recursive: true, force: true });
}
