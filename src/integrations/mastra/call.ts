/**
 * Calls what Mastra would call, as one attempt.
 *
 * @module
 */

import type { AttemptContext } from "../../engine/define/definition.ts";
import { peek } from "../../lang/peek.ts";
import { withAttempt } from "../shared/tools/attempt-context.ts";
import type { ToolRules } from "../shared/tools/guard-tool.ts";

export type Execute = (input: unknown, context?: unknown) => unknown;

const ENTERED = Symbol("holdfire.entered");

/** Thrown in place of the answer of a tool that was never entered. */
const unentered = new WeakSet<object>();

/** The tool's rules, and that a tool which was never entered has sent nothing. */
export const mastraRules = ({ classify, ...rules }: ToolRules): ToolRules => ({
  ...rules,
  classify: (error) => (unentered.has(Object(error)) ? "not_sent" : classify?.(error)),
});

/**
 * A tool made by `createTool` checks its input, and returns what is wrong in place of throwing it. Whether its
 * function was entered is seen by its context, which is copied for the function after the checks.
 */
export async function callTool(
  execute: Execute,
  args: unknown,
  attempt: AttemptContext,
  given: unknown,
): Promise<unknown> {
  let entered = false;
  const context = attemptContext(given, attempt);
  Object.defineProperty(context, ENTERED, {
    enumerable: true,
    configurable: true,
    get() {
      entered = true;
      return undefined;
    },
  });
  const result = await execute(args, context);
  const isInvalid =
    peek(result, "error") === true && peek(result, "validationErrors") !== undefined;
  if (entered || !isInvalid) return result;
  const error = new Error("The input is not what the tool takes.");
  unentered.add(error);
  throw error;
}

/** The context with the attempt's signal, and without the way to suspend. */
export function attemptContext(
  given: unknown,
  attempt: AttemptContext,
): Record<PropertyKey, unknown> {
  const context = withAttempt(given, attempt, "abortSignal");
  for (const part of ["agent", "workflow"]) {
    if (peek(context, part)) context[part] = { ...(context[part] as object), suspend };
  }
  if (peek(context, "suspend")) context.suspend = suspend;
  return context;
}

/** A suspended function has returned, and would be recorded as done. */
function suspend(): never {
  throw new Error(
    'A guarded function must not suspend. Ask before it: requireApproval, a step of its own, or kind: "destructive".',
  );
}
