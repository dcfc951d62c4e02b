/** The adapter contract through real MCP clients and servers of both SDKs, over Streamable HTTP. */
import {
  guardMcpClient,
  KEY_META,
  type McpGuardOptions,
  McpToolError,
} from "../../../src/integrations/mcp/index.ts";
import {
  type AdapterContractOptions,
  type AdapterSetup,
  adapterContract,
  type HandedCall,
  PAY_SCHEMA,
  type PayArguments,
} from "../../../src/testing/adapter-contract.ts";
import { connect, startServer, type Toolbox, type Version } from "./servers.ts";

/** A server whose one tool calls the faulty service, and says in its failures what that one said. */
const through =
  (version: Version, turn: McpGuardOptions) =>
  async ({ hf, definition }: Omit<AdapterSetup, "call">) => {
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
      ...turn,
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
    return (params: object, options: object) =>
      version === "v1"
        ? client.callTool(params, undefined as never, options as never)
        : client.callTool(params, options as never);
  };

const driven =
  (version: Version): AdapterContractOptions["drive"] =>
  async (setup) => {
    const { args, scope, signal, toolCallId } = setup.call;
    const call = await through(version, { scope, toolCallId: () => toolCallId })(setup);
    const { content } = await call({ name: "pay", arguments: JSON.parse(args) }, { signal });
    return { text: content[0]?.text ?? "" };
  };

/** One client, one object of parameters, and what each call belongs to in a variable. */
const handed =
  (version: Version): AdapterContractOptions["hand"] =>
  async (setup) => {
    let now: HandedCall | undefined;
    const params = { name: "", arguments: {} };
    const thread = () => now?.scope;
    const call = await through(version, {
      thread,
      messages: () => now?.messages,
      toolCallId: () => now?.toolCallId,
    })(setup);
    return (made) => {
      now = made;
      Object.assign(params, { name: "pay", arguments: made.args });
      const called = call(params, {});
      params.name = "another";
      now = undefined;
      return called;
    };
  };

const statusIn = (result: unknown): unknown =>
  (result as { structuredContent?: { status?: unknown } }).structuredContent?.status;

// A read gives the server's own answer.
const capabilities = { reads: false };
adapterContract("MCP, SDK v1", { drive: driven("v1"), hand: handed("v1"), capabilities });
adapterContract("MCP, SDK v2", { drive: driven("v2"), hand: handed("v2"), capabilities });
