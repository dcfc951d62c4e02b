/**
 * LangChain and LangGraph: tools under the guard, by themselves or by middleware, and chat models whose only retries
 * are holdfire's.
 *
 * Subpath export `"holdfire/langchain"`.
 *
 * @module
 */

export { attemptOf } from "../shared/tools/guard-function.ts";
export type { RuledCall, ToolRule, ToolRules } from "../shared/tools/rules.ts";
export { guardMiddleware, type LangChainMiddlewareOptions } from "./middleware.ts";
export { type ChatModel, ownRetries } from "./own-retries.ts";
export {
  guardTool,
  guardTools,
  type LangChainStatusTool,
  type LangChainTool,
  statusTool,
} from "./tools.ts";
export type { LangChainTurnOptions } from "./turn.ts";
