/**
 * Guards the tools of Mastra's agents, by themselves or through `hooks.beforeToolCall`.
 *
 * Mastra calls a tool again when an approval is sent twice and, in the background, as often as `maxRetries` says,
 * which the model may set.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import type { StatusReply } from "../../engine/admin/status-tool.ts";
import type { AttemptContext } from "../../engine/define/definition.ts";
import type { Reply } from "../../engine/outcome/reply.ts";
import { InvalidInputError } from "../../errors.ts";
import { peek } from "../../lang/peek.ts";
import {
  contextNow,
  describe,
  guardFunction,
  statusCall,
  withAttempt,
} from "../shared/tools/guard-function.ts";
import { hideKey, keyNamesOf } from "../shared/tools/hidden-key.ts";
import { told } from "../shared/tools/reply-text.ts";
import {
  checkRules,
  type FirstArgument,
  type RuleForEach,
  type ToolRule,
  type ToolRules,
} from "../shared/tools/rules.ts";
import { type MastraTurnOptions, mastraTurn } from "./turn.ts";

/** A tool of Mastra (`createTool`), by structure. */
export interface MastraTool {
  readonly id?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: tools of any input, context and output
  readonly execute?: ((input: any, context: any) => any) | undefined;
}

/** A rule for each tool, with its own arguments. Of what a tool gives, its type says too little. */
export type MastraRules<T> = T extends object
  ? RuleForEach<{
      readonly [K in keyof T]: ToolRule<
        T[K] extends { readonly execute?: infer F } ? FirstArgument<NonNullable<F>> : unknown
      >;
    }>
  : never;

const LINE =
  "Pass { memory: { thread, resource } } to the agent, or { thread: chatId } to the guard,";

/**
 * The same tools under the guard; the model reads the envelope. Each has a rule: `"read"`, `"write"`,
 * `"destructive"`, or an object. One without a function stays as it is.
 *
 * `execute` gets the attempt's signal as `abortSignal`; its key and its number are in `attemptOf()`.
 *
 * @example
 * ```ts
 * const tools = guardTools({ pay }, hf, { pay: { kind: "write", intent } });
 * const clerk = new Agent({ id: "clerk", name: "clerk", instructions, model, tools });
 * await clerk.generate("Pay p1", { memory: { thread: "chat-7", resource: "ana" } });
 * ```
 */
export function guardTools<T extends Readonly<Record<string, MastraTool>>>(
  tools: T,
  hf: Holdfire,
  rules: MastraRules<NoInfer<T>>,
  options: MastraTurnOptions = {},
): { -readonly [K in keyof T]: T[K] } {
  const names = Object.keys(tools);
  const runnable = names.filter((name) => typeof tools[name]?.execute === "function");
  const ruleOf = checkRules(rules, runnable, names);
  const guarded = Object.entries(tools).map(([name, tool]) => [
    name,
    guardTool(name, tool, hf, ruleOf(name), options),
  ]);
  return Object.fromEntries(guarded) as { -readonly [K in keyof T]: T[K] };
}

/** What `hooks` of an agent takes. */
export interface MastraHooks {
  readonly beforeToolCall: (call: {
    readonly toolName: string;
    readonly input: unknown;
    readonly context: unknown;
  }) => Promise<{ proceed: false; output: unknown } | undefined>;
}

/** The names that Mastra leaves as they are. */
const NAME = /^[a-zA-Z_][\w-]{0,62}$/;

/**
 * The guard as hooks of an agent, whose tools stay as they are. Only the tools given here are guarded, and a
 * `beforeToolCall` of a single run takes its place.
 *
 * @example
 * ```ts
 * new Agent({ id: "clerk", name: "clerk", instructions, model, tools: { pay }, hooks: guardHooks({ pay }, hf, { pay: "write" }) });
 * ```
 */
export function guardHooks<T extends Readonly<Record<string, MastraTool>>>(
  tools: T,
  hf: Holdfire,
  rules: MastraRules<NoInfer<T>>,
  options: MastraTurnOptions = {},
): MastraHooks {
  for (const name of Object.keys(tools)) {
    if (!NAME.test(name)) {
      throw new InvalidInputError(`tools.${name}`, "is shown to the model under another name.");
    }
  }
  const guarded = new Map(Object.entries<MastraTool>(guardTools(tools, hf, rules, options)));
  return {
    async beforeToolCall({ toolName, input, context }) {
      const execute = guarded.get(toolName)?.execute;
      return execute && { proceed: false, output: await execute(input, context) };
    },
  };
}

/** What `createTool` takes, to make a tool of `hf.statusTool()`. */
export interface MastraStatusTool {
  readonly id: string;
  readonly description: string;
  // biome-ignore lint/suspicious/noExplicitAny: JSON Schema, in whatever type Mastra has for it
  readonly inputSchema: any;
  readonly execute: (args: unknown, context: unknown) => Promise<StatusReply>;
}

/** `hf.statusTool()` as options for `createTool`. */
export function statusTool(hf: Holdfire, options: MastraTurnOptions = {}): MastraStatusTool {
  const status = hf.statusTool();
  const { toolName: id, description, inputSchema } = status;
  return {
    id,
    description,
    inputSchema,
    execute: (args, context) => statusCall(status, args, mastraTurn(context, id, options), LINE),
  };
}

function guardTool(
  name: string,
  tool: MastraTool,
  hf: Holdfire,
  rules: ToolRules,
  options: MastraTurnOptions,
): MastraTool {
  const { execute } = tool;
  if (typeof execute !== "function") return tool;
  const { schema } = hideKey(tool.inputSchema);
  const call = guardFunction<unknown>(hf, {
    name,
    rules: mastraRules(rules),
    keys: keyNamesOf(tool.inputSchema),
    line: LINE,
    source: execute,
    execute: (args, attempt, given) =>
      callTool(execute.bind(tool) as Execute, args, attempt, given),
  });
  const guarded: Execute = async (input, context): Promise<Reply> => {
    const reply = await call(input, {
      ...mastraTurn(context, tool.id ?? name, options),
      toolCallId: peek(peek(context, "agent"), "toolCallId") ?? peek(context, "toolCallId"),
      signal: peek(context, "abortSignal") as AbortSignal | undefined,
      context: contextNow(context),
    });
    return told(reply);
  };
  return Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, {
    inputSchema: schema,
    description: describe(tool.description, rules.alsoDoes),
    execute: guarded,
    // The envelope is not what they know.
    outputSchema: undefined,
    toModelOutput: undefined,
  });
}

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
