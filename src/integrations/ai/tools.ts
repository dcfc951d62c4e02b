/**
 * Guards the tools of the AI SDK (ai 7): `generateText`, `streamText`, `ToolLoopAgent`, `toolApproval`.
 *
 * The SDK runs a tool once per tool call and never again by itself. What runs it twice is a run started
 * again, approved messages sent twice, and a model that repeats itself; all three are the same turn.
 *
 * @module
 */

import type { Tool, ToolExecutionOptions, ToolSet } from "ai";
import type { Holdfire } from "../../api.ts";
import type { StatusQuestion, StatusReply } from "../../engine/admin/status-tool.ts";
import type { Reply } from "../../engine/outcome/reply.ts";
import { peek, peekItems } from "../../lang/peek.ts";
import {
  contextNow,
  describe,
  guardFunction,
  statusCall,
  withAttempt,
} from "../shared/tools/guard-function.ts";
import { told } from "../shared/tools/reply-text.ts";
import type { NamedCall } from "../shared/tools/response-names.ts";
import {
  checkRules,
  type KnownOrAny,
  type RuleForEach,
  type ToolRule,
  type ToolRules,
} from "../shared/tools/rules.ts";
import { runOfSteps, stepOfList } from "../shared/tools/run-name.ts";
import { type FromContext, turnFrom } from "../shared/tools/turn.ts";
import { aiSchema, hideAiKey } from "./schema.ts";

// biome-ignore lint/suspicious/noExplicitAny: tools of any input, output and context stand in one set
type Any = any;
type AnyTool = Tool<Any, Any, Any>;
type AnyOptions = ToolExecutionOptions<Any>;
type InputOf<T> = T extends Tool<infer I, Any, Any> ? I : Any;
type OutputOf<T> = T extends Tool<Any, infer O, Any> ? O : Any;
type ContextOf<T> = T extends Tool<Any, Any, infer C> ? C : Any;

/** The same tool; what it gives is the envelope around its result. */
export type GuardedAiTool<T> = Tool<InputOf<T>, Reply<OutputOf<T>>, ContextOf<T>>;

type Runnable = { readonly execute: (...args: never[]) => unknown };

type RuleFor<T> = ToolRule<KnownOrAny<InputOf<T>>, OutputOf<T>>;

/** A rule for each tool that has an `execute`; those of the provider need none. */
export type AiRules<T> = T extends object
  ? RuleForEach<
      { readonly [K in keyof T as T[K] extends Runnable ? K : never]: RuleFor<T[K]> } & {
        readonly [K in keyof T as T[K] extends Runnable ? never : K]?: RuleFor<T[K]>;
      }
    >
  : never;

export interface AiTurnOptions {
  /**
   * The conversation, as you name it (chat id, ticket, task), or where it stands in a tool's context. With
   * what persons have said it makes the scope: asked again by a person, a write happens again.
   */
  readonly thread?: FromContext<string, AnyOptions>;
  /** Your own id of the request in the thread (a message id of your store), in place of what persons have said. */
  readonly turn?: FromContext<string, AnyOptions>;
  /** The scope itself, in place of the turn: one id per request of a person, job or step. */
  readonly scope?: FromContext<string, AnyOptions>;
}

const LINE = "Pass { thread: chatId } to guardTools";

/**
 * The same tools under the guard. Each has a rule: `"read"`, `"write"`, `"destructive"`, or an object.
 *
 * `execute` gets the attempt's signal as `abortSignal`, and `key` and `attempt` beside it (see
 * `attemptOf`). Of a tool that yields, only the last value is told.
 *
 * @example
 * ```ts
 * const tools = guardTools({ pay, payout_status }, hf, {
 *   pay: { kind: "write", intent },
 *   payout_status: "read",
 * }, { thread: chatId });
 * await generateText({ model, tools, messages });
 * ```
 */
export function guardTools<T extends ToolSet>(
  tools: T,
  hf: Holdfire,
  rules: AiRules<NoInfer<T>>,
  options: AiTurnOptions = {},
): { [K in keyof T]: GuardedAiTool<T[K]> } {
  const names = Object.keys(tools);
  const runnable = names.filter((name) => typeof peek(tools[name], "execute") === "function");
  const ruleOf = checkRules(rules, runnable, names);
  const guarded = Object.entries(tools).map(([name, tool]) => [
    name,
    guardTool(name, tool as AnyTool, hf, ruleOf(name), options),
  ]);
  return Object.fromEntries(guarded) as { [K in keyof T]: GuardedAiTool<T[K]> };
}

/** `hf.statusTool()` as a tool of the SDK. */
export function statusTool(
  hf: Holdfire,
  options: AiTurnOptions = {},
): Tool<StatusQuestion, StatusReply> {
  const status = hf.statusTool();
  return {
    description: status.description,
    inputSchema: aiSchema(status.inputSchema),
    execute: (args: unknown, given: AnyOptions) =>
      statusCall(status, args, turnFrom(options, given, given.messages), LINE),
  } as unknown as Tool<StatusQuestion, StatusReply>;
}

function guardTool(
  name: string,
  tool: AnyTool,
  hf: Holdfire,
  rules: ToolRules,
  options: AiTurnOptions,
): AnyTool {
  const { execute, outputSchema: _, toModelOutput, ...rest } = tool;
  // Run by the provider or by the user's own client: nothing of ours to fire.
  if (typeof execute !== "function") return tool;
  const { schema, keys } = hideAiKey(tool.inputSchema);
  const call = guardFunction<AnyOptions>(hf, {
    name,
    rules,
    keys,
    line: LINE,
    source: execute,
    execute: (args, attempt, given) =>
      lastOf(execute.call(tool, args, withAttempt(given, attempt, "abortSignal") as never)),
  });
  const { description } = tool;
  const shown =
    typeof description === "function"
      ? (about: never) => describe(description(about), rules.alsoDoes)
      : describe(description, rules.alsoDoes);
  return {
    ...rest,
    ...(shown === undefined ? {} : { description: shown }),
    inputSchema: schema,
    execute: async (args: unknown, given: AnyOptions) => {
      const { toolCallId, abortSignal: signal } = given;
      const reply = await call(args, {
        ...turnFrom(options, given, given.messages),
        run: runOfSteps(given.messages, { id: toolCallId, name, args }, callsIn),
        step: stepOfList(given.messages),
        toolCallId,
        signal,
        context: contextNow(given),
      });
      return toModelOutput ? reply : told(reply);
    },
    ...(toModelOutput ? { toModelOutput: inEnvelope(toModelOutput as ToModelOutput) } : {}),
  } as unknown as AnyTool;
}

const callsIn = (message: unknown): readonly NamedCall[] =>
  peekItems(peek(message, "content"), Number.POSITIVE_INFINITY)
    .filter((part) => peek(part, "type") === "tool-call")
    .map((part) => ({
      id: peek(part, "toolCallId"),
      name: peek(part, "toolName"),
      args: peek(part, "input"),
    }));

/** What a tool that yields came to; its earlier values are progress. */
async function lastOf(result: unknown): Promise<unknown> {
  if (typeof peek(result, Symbol.asyncIterator) !== "function") return result;
  let last: unknown;
  for await (const value of result as AsyncIterable<unknown>) last = value;
  return last;
}

type ToModelOutput = (about: { readonly output: unknown }) => unknown;

/** The tool's own way to show its data (images, files), behind the envelope. */
function inEnvelope(toModelOutput: ToModelOutput): ToModelOutput {
  return async (about) => {
    const { data, ...envelope } = about.output as Reply;
    if (data === undefined) return { type: "json", value: envelope };
    const shown = await toModelOutput({ ...about, output: data });
    const value = peek(shown, "value");
    const parts = Array.isArray(value)
      ? value
      : [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }];
    return { type: "content", value: [textPart(envelope), ...parts] };
  };
}

const textPart = (value: unknown) => ({ type: "text", text: JSON.stringify(value) });
