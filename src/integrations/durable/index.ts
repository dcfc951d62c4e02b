/**
 * Durable engines (Temporal, Restate, DBOS, Inngest, Vercel's workflow): a step as the scope of what is called in it.
 *
 * Subpath export `"holdfire/durable"`.
 *
 * @module
 */

export {
  type DbosContext,
  type InngestContext,
  type RestateContext,
  type ScopeFrom,
  scopeFrom,
  type TemporalActivity,
  type WorkflowRun,
  type WorkflowStep,
} from "./scope-from.ts";
