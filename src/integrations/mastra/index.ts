/**
 * Mastra: tools of agents and steps of workflows under the guard.
 *
 * Subpath export `"holdfire/mastra"`.
 *
 * @module
 */

export { attemptOf, type ToolRules } from "../shared/tools/guard-tool.ts";
export { guardStep, type MastraStep } from "./step.ts";
export {
  guardHooks,
  guardTools,
  type MastraHooks,
  type MastraStatusTool,
  type MastraTool,
  statusTool,
} from "./tools.ts";
export type { MastraTurnOptions } from "./turn.ts";
