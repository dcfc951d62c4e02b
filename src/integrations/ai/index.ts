/**
 * The AI SDK (ai 7): tools under the guard, and models whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/ai"`.
 *
 * @module
 */

export { attemptOf } from "../shared/tools/guard-function.ts";
export type { RuledCall, ToolRule, ToolRules } from "../shared/tools/rules.ts";
export { type AiModel, ownRetries } from "./own-retries.ts";
export {
  type AiRules,
  type AiTurnOptions,
  type GuardedAiTool,
  guardTools,
  statusTool,
} from "./tools.ts";
