/**
 * The OpenAI SDK (openai 6 and 7, `AzureOpenAI` included): tools under the guard, a loop of your own, and a client
 * whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/openai"`.
 *
 * @module
 */

export type { HoldfireLike } from "../shared/retries/own-client.ts";
export type { OwnOptions, StepRequest } from "../shared/stainless/own-options.ts";
export { attemptOf } from "../shared/tools/guard-function.ts";
export type { RuledCall, ToolRule, ToolRules } from "../shared/tools/rules.ts";
export type { LoopOptions, LoopTool, LoopTools } from "../shared/tools/tool-loop.ts";
export type { RunnerTurnOptions } from "../shared/tools/turn.ts";
export {
  type ChatCompletionLike,
  type FunctionCallOutput,
  type ResponseLike,
  runToolCalls,
  type ToolMessage,
} from "./loop.ts";
export { type OpenAIClient, ownRetries } from "./own-retries.ts";
export {
  type ChatStatusTool,
  type ResponsesStatusTool,
  responsesStatusTool,
  statusTool,
} from "./status-tool.ts";
export { guardTools } from "./tools.ts";
