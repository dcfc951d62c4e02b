/**
 * Guards the tools of Mastra's agents, by themselves or through `hooks.beforeToolCall`, and the steps of its
 * workflows.
 *
 * Mastra calls a tool again when an approval is sent twice and, in the background, as often as `maxRetries` says,
 * which the model may set; a step as often as `retries` and `retryConfig` say.
 *
 * Subpath export `"holdfire/mastra"`.
 *
 * @module
 */

import type { StatusReply } from "../../engine/admin/status-tool.ts";
import type { Reply } from "../../engine/outcome/reply.ts";
import { InvalidInputError } from "../../errors.ts";
import type { Holdfire } from "../../holdfire.ts";
import { peek } from "../../lang/peek.ts";
import { describe } from "../shared/tools/describe.ts";
import { checkRules, guardFunction, type ToolRules } from "../shared/tools/guard-tool.ts";
import { hideKey } from "../shared/tools/hidden-key.ts";
import { statusCall } from "../shared/tools/status-call.ts";
import { callTool, type Execute, mastraRules } from "./call.ts";
import { type MastraTurnOptions, mastraTurn } from "./turn.ts";

export { attemptOf } from "../shared/tools/attempt-context.ts";
export type { ToolRules } from "../shared/tools/guard-tool.ts";
export { guardStep, type MastraStep } from "./step.ts";
export type { MastraTurnOptions } from "./turn.ts";

/** A tool of Mastra (`createTool`), by structure. */
export interface MastraTool {
  readonly id?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: tools of any input, context and output
  readonly execute?: ((input: any, context: any) => any) | undefined;
}

const LINE =
  "Pass { memory: { thread, resource } } to the agent, or { thread: chatId } to the guard,";

/**
 * The same tools under the guard; the model reads the envelope. A tool without rules is a plain write, one without
 * a function stays as it is.
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
  rules: { readonly [K in keyof T]?: ToolRules } = {},
  options: MastraTurnOptions = {},
): { -readonly [K in keyof T]: T[K] } {
  checkRules(rules, Object.keys(tools));
  const guarded = Object.entries(tools).map(([name, tool]) => [
    name,
    guardTool(name, tool, hf, rules[name] ?? {}, options),
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
 * new Agent({ id: "clerk", name: "clerk", instructions, model, tools: { pay }, hooks: guardHooks({ pay }, hf) });
 * ```
 */
export function guardHooks<T extends Readonly<Record<string, MastraTool>>>(
  tools: T,
  hf: Holdfire,
  rules: { readonly [K in keyof T]?: ToolRules } = {},
  options: MastraTurnOptions = {},
): MastraHooks {
  for (const name of Object.keys(tools)) {
    if (!NAME.test(name)) {
      throw new InvalidInputError(`tools.${name}`, "is shown to the model under another name");
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
  const { schema, property } = hideKey(tool.inputSchema);
  const call = guardFunction<unknown>(hf, {
    name,
    rules: mastraRules(rules),
    keyProperty: property,
    line: LINE,
    execute: (args, attempt, given) =>
      callTool(execute.bind(tool) as Execute, args, attempt, given),
  });
  const guarded: Execute = (input, context): Promise<Reply> => {
    const toolCallId = peek(peek(context, "agent"), "toolCallId") ?? peek(context, "toolCallId");
    return call(input, {
      ...mastraTurn(context, tool.id ?? name, options),
      toolCallId: typeof toolCallId === "string" ? toolCallId : undefined,
      signal: peek(context, "abortSignal") as AbortSignal | undefined,
      context,
    });
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
