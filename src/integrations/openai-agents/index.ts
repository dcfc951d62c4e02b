/**
 * The OpenAI Agents SDK: tools under the guard, and clients, models and providers whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/openai-agents"`.
 *
 * @module
 */

export { attemptOf } from "../shared/tools/guard-function.ts";
export type { RuledCall, ToolRule, ToolRules } from "../shared/tools/rules.ts";
export { type AgentModel, type AgentModelProvider, ownRetries } from "./own-retries.ts";
export {
  type AgentRunContext,
  type AgentToolDefinition,
  type AgentTurnOptions,
  guardTool,
  statusTool,
} from "./tools.ts";
