/**
 * Scopes inside durable engines: the engine's own name for a step, which stays the same when the step
 * is run again, becomes the scope of what is called in it.
 *
 * Nothing is imported from an engine: pass in what it gives you.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { checkScope } from "../../key/check-name.ts";
import { digestText } from "../../key/digest.ts";

/** What `Context.current().info` of `@temporalio/activity` tells of an activity. */
export interface TemporalActivity {
  /** Stable over the retries of the activity, and unique within one run of the workflow. */
  readonly activityId: string;
  /** Absent for an activity that no workflow started. */
  readonly workflowExecution?:
    | { readonly workflowId: string; readonly runId: string }
    | null
    | undefined;
  readonly workflowNamespace?: string | undefined;
  /** Of an activity that no workflow started. */
  readonly activityNamespace?: string | undefined;
  readonly activityRunId?: string | undefined;
}

/** The part of a Restate `Context` that names the invocation. */
export interface RestateContext {
  request(): { readonly id: string };
}

/** The part of the `DBOS` class that names workflow and step. */
export interface DbosContext {
  readonly workflowID: string | undefined;
  /** Set inside a step, and only there. */
  readonly stepID: number | undefined;
}

/** The part of an Inngest handler's argument that names the run. */
export interface InngestContext {
  readonly runId: string;
}

/** What `getStepMetadata()` of Vercel's `workflow` returns. */
export interface WorkflowStep {
  readonly stepId: string;
}

/** What `getWorkflowMetadata()` of Vercel's `workflow` returns. */
export interface WorkflowRun {
  readonly workflowRunId: string;
}

/** One function per engine. Each returns a scope for `hf.scope(…)` or for the option `scope`. */
export interface ScopeFrom {
  /** Inside an activity: `scopeFrom.temporal(Context.current().info)`. */
  temporal(info: TemporalActivity): string;
  /** Before `ctx.run(name, …)`: `scopeFrom.restate(ctx, name)`. A name must be used once per invocation. */
  restate(context: RestateContext, step: string): string;
  /** Inside a step: `scopeFrom.dbos(DBOS)`. */
  dbos(context: DbosContext): string;
  /** Around `step.run(id, …)`: `scopeFrom.inngest({ runId }, id)`. An id must be used once per run. */
  inngest(context: InngestContext, step: string): string;
  /** Inside a step: `scopeFrom.workflow(getWorkflowMetadata(), getStepMetadata())`. */
  workflow(run: WorkflowRun, step: WorkflowStep): string;
}

/**
 * Makes a scope from a durable engine's own name for a step.
 *
 * @example
 * ```ts
 * await hf.scope(scopeFrom.dbos(DBOS), () => payOut(args));
 * ```
 */
export const scopeFrom: ScopeFrom = Object.freeze({
  temporal(info: TemporalActivity) {
    const { workflowExecution: workflow, activityId } = given(info, "temporal");
    if (!workflow) {
      return named("temporal-activity", [
        ["activityNamespace", info.activityNamespace ?? ""],
        ["activityId", activityId],
        // Without it, an id that is used again later would look like the first one.
        ["activityRunId", info.activityRunId],
      ]);
    }
    // The run is part of the name: activity ids start again in the next run of a workflow, as after
    // continue-as-new or by cron, and that is another step.
    return named("temporal", [
      ["workflowNamespace", info.workflowNamespace ?? ""],
      ["workflowId", workflow.workflowId],
      ["runId", workflow.runId],
      ["activityId", activityId],
    ]);
  },
  restate(context: RestateContext, step: string) {
    const { id } = given(given(context, "restate").request(), "restate");
    return named("restate", [
      ["request().id", id],
      ["step", step],
    ]);
  },
  dbos(context: DbosContext) {
    const { workflowID, stepID } = given(context, "dbos");
    return named("dbos", [
      ["workflowID", workflowID],
      ["stepID", typeof stepID === "number" ? String(stepID) : undefined],
    ]);
  },
  inngest(context: InngestContext, step: string) {
    const { runId } = given(context, "inngest");
    return named("inngest", [
      ["runId", runId],
      ["step", step],
    ]);
  },
  workflow(run: WorkflowRun, step: WorkflowStep) {
    const { workflowRunId } = given(run, "workflow");
    const { stepId } = given(step, "workflow");
    return named("workflow", [
      ["workflowRunId", workflowRunId],
      ["stepId", stepId],
    ]);
  },
});

const READABLE = 256;
/** Half a character, which no encoding can carry. */
const LONE = /\p{Surrogate}/u;

/** Engines allow ids of any length and with any character; a scope that is too long to read is a digest. */
function named(engine: string, parts: readonly (readonly [name: string, id: unknown])[]): string {
  const ids = parts.map(([name, id]) => {
    const mayBeEmpty = name.endsWith("Namespace");
    if (typeof id === "string" && !LONE.test(id) && (id !== "" || mayBeEmpty)) return id;
    throw new InvalidInputError(
      `scopeFrom.${engine === "temporal-activity" ? "temporal" : engine}`,
      `found no ${name}. Call it where the step runs; without it a step that is run again would look new.`,
    );
  });
  const readable = `${engine}:${ids.map(encodeURIComponent).join("/")}`;
  return checkScope(
    readable.length <= READABLE
      ? readable
      : `${engine}:${digestText(`scope-from/${engine}`, ...ids)}`,
  );
}

function given<T extends object>(context: T, engine: string): T {
  const isThere =
    (typeof context === "object" || typeof context === "function") && context !== null;
  if (isThere) return context;
  throw new InvalidInputError(`scopeFrom.${engine}`, "was given no context of the engine.");
}
