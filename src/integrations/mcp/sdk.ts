/**
 * The two SDKs, as far as they differ: `callTool(params, schema, options)` in v1, `callTool(params,
 * options)` in v2. Structural; nothing is imported from either.
 *
 * @module
 */

import { canonicalize } from "../../key/canonical.ts";
import type { JsonObject } from "../../key/json.ts";
import { peek, tryCall } from "../../lang/peek.ts";

/** What is guarded: a `Client` of `@modelcontextprotocol/sdk` (v1) or `@modelcontextprotocol/client` (v2). */
export interface McpClient {
  callTool(...args: never[]): Promise<unknown>;
  listTools(...args: never[]): Promise<unknown>;
}

/** What a caller of `callTool` gives first. */
export interface McpCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

/** A tool, as a server lists it. */
export interface McpTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema?: object | undefined;
  readonly annotations?: Readonly<Record<string, unknown>> | undefined;
}

/** The options of one request that are read here; all others are handed on. */
interface McpRequestOptions {
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly [option: string]: unknown;
}

export interface McpArguments {
  /** A copy. */
  readonly params: McpCall;
  /** v1 only. */
  readonly resultSchema: unknown;
  /** A copy, but for what they hold. */
  readonly options: McpRequestOptions;
}

type Method = (this: unknown, ...args: unknown[]) => Promise<unknown>;

export const isSecondVersion = (client: object): boolean =>
  typeof peek(client, "getProtocolEra") === "function";

/**
 * The arguments of a `callTool` of this client's version, as they are now: before the call is sent the tools are listed and a
 * person may be asked, and it may be sent again. A caller may use its objects for the next call meanwhile.
 */
export function argumentsOf(client: McpClient, given: readonly unknown[]): McpArguments {
  const [params, second, third] = given;
  const isSecond = isSecondVersion(client);
  const { arguments: args, ...rest } = params as McpCall;
  return {
    // As both go to the server.
    params: {
      ...(JSON.parse(JSON.stringify(rest)) as McpCall),
      arguments: canonicalize(args ?? {}, "args").value as JsonObject,
    },
    resultSchema: isSecond ? undefined : second,
    options: { ...((isSecond ? second : third) as McpRequestOptions | undefined) },
  };
}

export function callTool(
  client: McpClient,
  { params, resultSchema, options }: McpArguments,
): Promise<unknown> {
  const method = client.callTool as unknown as Method;
  return isSecondVersion(client)
    ? method.call(client, params, options)
    : method.call(client, params, resultSchema, options);
}

const MAX_PAGES = 64;

/** `isWhole`: what is not in it, the server does not list. */
export interface ToolList {
  readonly tools: readonly McpTool[];
  readonly isWhole: boolean;
}

/** All tools of the server, asked anew. */
export async function listAllTools(client: McpClient, timeout: number): Promise<ToolList> {
  const method = client.listTools as unknown as Method;
  const options = isSecondVersion(client) ? { timeout, cacheMode: "refresh" } : { timeout };
  const tools: McpTool[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const listed = await method.call(
      client,
      cursor === undefined ? undefined : { cursor },
      options,
    );
    tools.push(...toolsIn(listed));
    cursor = peek(listed, "nextCursor");
    if (typeof cursor !== "string" || cursor === "") return { tools, isWhole: true };
  }
  return { tools, isWhole: false };
}

/** The tools of one answer to `tools/list`. */
export function toolsIn(listed: unknown): McpTool[] {
  const tools = peek(listed, "tools");
  return Array.isArray(tools) ? tools.filter((tool) => typeof peek(tool, "name") === "string") : [];
}

/** What the server calls itself. */
export function serverNameOf(client: McpClient): string | undefined {
  const name = peek(tryCall(client, "getServerVersion"), "name");
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** Where the next request would go, if anywhere. */
export const transportOf = (client: McpClient): unknown => peek(client, "transport");
