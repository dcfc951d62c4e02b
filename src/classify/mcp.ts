/**
 * What the end of an MCP `tools/call` proves about a write. A result proves that it was done;
 * nearly everything else proves nothing.
 *
 * A JSON-RPC error is not a rejection: both SDKs create `-32602` themselves when an answer does not
 * fit the tool's output schema, and a server passes on any code that its handler threw, whatever
 * the handler had done before. A timeout, a dead server, a cut stream and a lost session (404)
 * happen after the send. The exceptions are proved by the wire: a request that was never sent, and
 * one that failed authorization.
 *
 * @module
 */

import { causes, peek, peekItems } from "../lang/peek.ts";
import type { Verdict } from "../reasons.ts";

/** The tool answered without success: `isError`, or a result that asks for more input. */
export class McpToolError extends Error {
  override readonly name = "McpToolError";
  /** The whole `CallToolResult`. Not enumerable, so not in logs. */
  declare readonly result: unknown;

  constructor(result: unknown) {
    super("The MCP tool answered with an error.");
    Object.defineProperty(this, "result", { value: result, enumerable: false });
  }
}

/** The request was certainly not sent. */
export class McpNotSentError extends Error {
  override readonly name = "McpNotSentError";

  constructor(why: string, cause?: unknown) {
    super(`The MCP request was not sent: ${why}.`, { cause });
  }
}

/** The server refused authorization before any tool ran: 401 or 403, and nothing was sent again. */
export class McpTurnedAwayError extends Error {
  override readonly name = "McpTurnedAwayError";

  constructor(cause: unknown) {
    super("The MCP server requires another authorization.", { cause });
  }
}

const handed = new WeakSet<object>();

/** Returns what was thrown after a call was handed to its server, by a pipe or by requests that no attempt sees. */
export function afterHanding(error: unknown): unknown {
  const isUnsent = isA(error, McpNotSentError) || isA(error, McpTurnedAwayError);
  if (typeof error === "object" && error !== null && !isUnsent) handed.add(error);
  return error;
}

/** Whether it was thrown after a call was handed to its server. */
export const isAfterHanding = (error: unknown): boolean => handed.has(Object(error));

/** What `isError: true` means, as declared for the tool. */
export type IsErrorMeans = "unknown" | "rejected" | "refused";

export function verdictOfMcp(error: unknown, isErrorMeans: IsErrorMeans = "unknown"): Verdict {
  if (isA(error, McpNotSentError)) return "not_sent";
  if (isA(error, McpTurnedAwayError)) return "rejected";
  return isA(error, McpToolError) ? isErrorMeans : "unknown";
}

/** Whether it was thrown in place of an answer that says no more than "error". */
export const isMcpAnswer = (error: unknown): boolean => isA(error, McpToolError);

/** What the tool said in that answer, if it said anything: the first text of its content. */
export const mcpErrorText = (error: unknown): unknown =>
  peek(peekItems(peek(peek(error, "result"), "content"), 1)[0], "text");

/** `instanceof` runs user code on some values, which may throw. */
function isA(error: unknown, kind: new (...args: never[]) => Error): boolean {
  try {
    return error instanceof kind;
  } catch {
    return false;
  }
}

/** Codes after which the server, or the SDK, would give the same answer again. */
const FINAL = new Set<unknown>([-32700, -32600, -32601, -32602, -32603]);

/** For reads, where the only question is whether asking again may help. */
export const verdictOfMcpRead = (error: unknown): Verdict =>
  causes(error).some((link) => FINAL.has(peek(link, "code"))) ? "rejected" : "unknown";

/** The server does not know the method. */
export const isMethodNotFound = (error: unknown): boolean => peek(error, "code") === -32601;
