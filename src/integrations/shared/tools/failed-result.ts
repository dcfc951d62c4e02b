/**
 * A tool of an MCP server, as frameworks hand it on, returns the failure of its call in place of throwing it. Taken for a
 * result, it would be recorded as committed, and told to the model as done.
 *
 * @module
 */

import { McpToolError } from "../../../classify/mcp.ts";
import { peek, peekItems } from "../../../lang/peek.ts";

const MAX_BLOCKS = 16;
const MAX_WORDS = 300;

/** What to throw in place of this result; `undefined` if it is no failed `CallToolResult`. */
export function failureIn(result: unknown): McpToolError | undefined {
  if (peek(result, "isError") !== true || !Array.isArray(peek(result, "content"))) return undefined;
  const error = new McpToolError(result);
  const words = wordsOf(result);
  // The server's own words help a model more than ours.
  if (words) error.message = `The MCP tool answered with an error: ${words}`;
  return error;
}

const wordsOf = (result: unknown): string =>
  peekItems(peek(result, "content"), MAX_BLOCKS)
    .map((block) => peek(block, "text"))
    .filter((text) => typeof text === "string")
    .join(" ")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, MAX_WORDS);
