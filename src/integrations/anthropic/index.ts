/**
 * The Anthropic SDK: tools under the guard, a loop of your own, and a client whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/anthropic"`.
 *
 * @module
 */

export type { HoldfireLike } from "../shared/retries/own-client.ts";
export type { OwnOptions, StepRequest } from "../shared/stainless/own-options.ts";
export { attemptOf } from "../shared/tools/guard-function.ts";
export type { RuledCall, ToolRule, ToolRules } from "../shared/tools/rules.ts";
export type { LoopOptions, LoopTool, LoopTools } from "../shared/tools/tool-loop.ts";
export type { RunnerTurnOptions } from "../shared/tools/turn.ts";
export { type MessageLike, runToolCalls, type ToolResultMessage } from "./loop.ts";
export { type AnthropicClient, ownRetries } from "./own-retries.ts";
export { guardTools, type RunnableStatusTool, statusTool } from "./tools.ts";
