/**
 * What the end of an MCP `tools/call` proves of a write. A result proves that it was done; hardly anything
 * else proves anything.
 *
 * A JSON-RPC error is no "no": both SDKs make `-32602` themselves when an answer does not fit the tool's
 * output schema, and a server hands on whatever code its handler threw, after whatever it had done. A
 * timeout, a dead server, a cut stream and a lost session (404) come after the send. The exceptions are what
 * the wire itself has shown: a request that never left, and one that was turned away at the door.
 *
 * @module
 */

import { causes, peek } from "../lang/peek.ts";
import type { Verdict } from "../ledger/record.ts";

/** The tool answered, and not with a success: `isError`, or a result that asks for more. */
export class McpToolError extends Error {
  override readonly name = "McpToolError";
  /** The whole `CallToolResult`. Not enumerable, so not in logs. */
  declare readonly result: unknown;

  constructor(result: unknown) {
    super("The MCP tool answered with an error.");
    Object.defineProperty(this, "result", { value: result, enumerable: false });
  }
}

/** The request certainly never left. */
export class McpNotSentError extends Error {
  override readonly name = "McpNotSentError";

  constructor(why: string, cause?: unknown) {
    super(`The MCP request was not sent: ${why}.`, { cause });
  }
}

/** The server turned the request away before any tool saw it: 401 or 403, and nothing was sent again. */
export class McpTurnedAwayError extends Error {
  override readonly name = "McpTurnedAwayError";

  constructor(cause: unknown) {
    super("The MCP server wants another authorization.", { cause });
  }
}

/** What `isError: true` is worth, by declaration. */
export type IsErrorMeans = "unknown" | "rejected" | "refused";

export function verdictOfMcp(error: unknown, isErrorMeans: IsErrorMeans = "unknown"): Verdict {
  if (isA(error, McpNotSentError)) return "not_sent";
  if (isA(error, McpTurnedAwayError)) return "rejected";
  return isA(error, McpToolError) ? isErrorMeans : "unknown";
}

/** Some values throw when they are asked what they are. */
function isA(error: unknown, kind: new (...args: never[]) => Error): boolean {
  try {
    return error instanceof kind;
  } catch {
    return false;
  }
}

/** The server, or the SDK, read the request and will say the same again. */
const FINAL = new Set<unknown>([-32700, -32600, -32601, -32602, -32603]);

/** For reads, where all that matters is whether asking again may help. */
export const verdictOfMcpRead = (error: unknown): Verdict =>
  causes(error).some((link) => FINAL.has(peek(link, "code"))) ? "rejected" : "unknown";

/** The server does not know the method. */
export const isMethodNotFound = (error: unknown): boolean => peek(error, "code") === -32601;
