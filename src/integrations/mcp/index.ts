/**
 * MCP clients of both SDKs, whose tool calls are guarded.
 *
 * Subpath export `"holdfire/mcp"`.
 *
 * @module
 */

export {
  type IsErrorMeans,
  McpNotSentError,
  McpToolError,
  McpTurnedAwayError,
} from "../../classify/mcp.ts";
export { guardMcpClient } from "./guard-client.ts";
export type { McpGuardOptions, McpToolRules, PerCall } from "./options.ts";
export { KEY_META, REPLY_META } from "./result.ts";
export type { McpCall, McpClient } from "./sdk.ts";
