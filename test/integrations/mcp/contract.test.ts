/** The adapter contract through real MCP clients and servers of both SDKs, over Streamable HTTP. */
import { guardMcpClient, KEY_META, McpToolError } from "../../../src/integrations/mcp/index.ts";
import {
  type AdapterContractOptions,
  adapterContract,
  PAY_SCHEMA,
  type PayArguments,
} from "../../../src/testing/adapter-contract.ts";
import { connect, startServer, type Toolbox, type Version } from "./servers.ts";

type Drive = AdapterContractOptions["drive"];

/** A server whose one tool calls the faulty service, and says in its failures what that one said. */
const through =
  (version: Version): Drive =>
  async ({ hf, definition, call }) => {
    const toolbox: Toolbox = {
      tools: [{ name: "pay", inputSchema: PAY_SCHEMA, outputSchema: { type: "object" } }],
      async call({ args, meta, signal }) {
        const key = String(meta[KEY_META]);
        const attempt = {
          key,
          signal,
          attempt: 1,
          precondition: undefined,
          fetch: globalThis.fetch,
        };
        try {
          const structuredContent = await definition.run(args as never as PayArguments, attempt);
          return { content: [], structuredContent };
        } catch (error) {
          const { status } = error as { status?: number };
          return { content: [], structuredContent: { status }, isError: true };
        }
      },
    };
    const server = await startServer(version, toolbox);
    const client = guardMcpClient(await connect(version, server.url), hf, {
      scope: call.scope,
      toolCallId: () => call.toolCallId,
      tools: {
        pay: {
          kind: definition.kind,
          intent: definition.intent,
          keyed: definition.keyed,
          attemptTimeoutMs: 60_000,
          readState: definition.readState,
          effect: { type: () => "created", id: ({ structuredContent }) => structuredContent?.id },
          classify: (error) =>
            error instanceof McpToolError && statusIn(error.result) === 403
              ? "rejected"
              : undefined,
        },
      },
    });
    const params = { name: "pay", arguments: JSON.parse(call.args) };
    const options = { signal: call.signal } as never;
    const { content } = await (version === "v1"
      ? client.callTool(params, undefined as never, options)
      : client.callTool(params, options));
    return { text: content[0]?.text ?? "" };
  };

const statusIn = (result: unknown): unknown =>
  (result as { structuredContent?: { status?: unknown } }).structuredContent?.status;

// A read gives the server's own answer.
const capabilities = { reads: false };
adapterContract("MCP, SDK v1", { drive: through("v1"), capabilities });
adapterContract("MCP, SDK v2", { drive: through("v2"), capabilities });
