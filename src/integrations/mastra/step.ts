/**
 * Guards a step of a workflow of Mastra: its own function, or the tool that it is made of.
 *
 * Mastra runs a step again as often as `retries` and `retryConfig` say. A workflow goes on with data, so a guarded
 * step returns what its function returned, or throws.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import type { AttemptContext } from "../../engine/define/definition.ts";
import type { Reply } from "../../engine/outcome/reply.ts";
import { peek } from "../../lang/peek.ts";
import { contextNow, guardFunction } from "../shared/tools/guard-function.ts";
import { hideKey, keyNamesOf } from "../shared/tools/hidden-key.ts";
import { readRule, type ToolRule } from "../shared/tools/rules.ts";
import { attemptContext, callTool, type Execute, mastraRules } from "./tools.ts";
import { type MastraTurnOptions, mastraTurn } from "./turn.ts";

/** What `createStep` takes, by structure: its own options, or a tool. */
export interface MastraStep {
  readonly id: string;
  readonly inputSchema?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: steps of any input, context and output
  readonly execute?: ((...args: any[]) => any) | undefined;
}

const TOOL = Symbol.for("mastra.core.tool.Tool");
const LINE = "Pass { scope } to guardStep";

/**
 * The same step under the guard, for `createStep`. Its scope is the run and the step: run again with the same
 * intent, it returns what it returned. A step that a loop runs with the same intent on purpose needs `scope`.
 *
 * Throws if it is not known to have happened; `outcome` and `operation` of the error say what is known.
 *
 * @example
 * ```ts
 * const pay = createStep(guardStep({ id: "pay", inputSchema, outputSchema, execute, retries: 2 }, hf, "write"));
 * ```
 */
export function guardStep<S extends MastraStep>(
  step: S,
  hf: Holdfire,
  rule: ToolRule,
  options: Pick<MastraTurnOptions, "scope"> = {},
): S {
  const rules = readRule(rule);
  const { execute } = step;
  if (typeof execute !== "function") return step;
  const isTool = peek(step, TOOL) === true;
  // No model writes the input of a step.
  const keys = isTool
    ? keyNamesOf(step.inputSchema)
    : { property: undefined, isDeclared: () => true };
  const call = guardFunction<unknown>(hf, {
    name: step.id,
    rules: mastraRules(rules),
    keys,
    line: LINE,
    source: execute,
    execute: (args, attempt, given) =>
      isTool
        ? callTool(execute.bind(step) as Execute, args, attempt, given)
        : execute.call(step, stepContext(args, attempt, given)),
  });
  const run = async (args: unknown, context: unknown) => {
    const signal = peek(context, "abortSignal") as AbortSignal | undefined;
    const turn = mastraTurn(context, step.id, options);
    const reply = await call(args, {
      ...turn,
      run: undefined,
      signal,
      context: contextNow(context),
    });
    if (reply.ok) return reply.data;
    throw failure(reply);
  };
  const guarded = isTool ? run : (context: unknown) => run(peek(context, "inputData"), context);
  return Object.assign(Object.create(Object.getPrototypeOf(step)), step, {
    inputSchema: isTool ? hideKey(step.inputSchema).schema : step.inputSchema,
    execute: guarded,
  });
}

const stepContext = (args: unknown, attempt: AttemptContext, given: unknown) =>
  Object.assign(attemptContext(given, attempt), { inputData: args });

/** Final to every loop around it; those that go on are answered from the ledger. */
function failure({ outcome, operation, message }: Reply): Error {
  return Object.assign(new Error(message), { outcome, operation, status: 409, isRetryable: false });
}
