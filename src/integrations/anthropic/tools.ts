/**
 * Guards the tools of the Anthropic SDK: those of `betaZodTool`, `betaTool` and MCP.
 *
 * The runner tells its tools neither the conversation nor the run, and with `runToolsEagerly` it starts them
 * while the reply still streams: if the stream breaks, the tool has run, and the next run calls it again.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import type { StatusQuestion } from "../../engine/admin/status-tool.ts";
import type { Reply } from "../../engine/outcome/reply.ts";
import { peek, tryCall } from "../../lang/peek.ts";
import {
  contextNow,
  describe,
  guardFunction,
  statusCall,
  withAttempt,
} from "../shared/tools/guard-function.ts";
import { checkWithoutKey, hideKey, keyNamesOf, withoutMadeUp } from "../shared/tools/hidden-key.ts";
import { toldText } from "../shared/tools/reply-text.ts";
import {
  checkRules,
  type FirstArgument,
  type RulesByName,
  type ToolRules,
} from "../shared/tools/rules.ts";
import { putHandle } from "../shared/tools/tool-loop.ts";
import { type RunnerTurnOptions, runnerTurn, type Turn } from "../shared/tools/turn.ts";

/** A tool of the runner, by structure. */
interface RunnableTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly input_schema?: unknown;
  readonly run: (args: never, context?: never) => unknown;
  readonly parse?: ((content: unknown) => unknown) | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: tools of any arguments
type Any = any;

/** What the type of a tool tells; `never` for one that the runner does not run. The SDK's types forget the result. */
type TypesOf<T> = T extends { readonly name: infer N extends string; readonly run: infer F }
  ? { readonly name: N; readonly args: FirstArgument<F>; readonly result: Any }
  : never;

const LINE = "Pass { thread, messages } to guardTools";

/**
 * The same tools under the guard; the model reads the envelope. Each has a rule: `"read"`, `"write"`,
 * `"destructive"`, or an object. One that the runner does not run needs none and stays as it is.
 *
 * @example
 * ```ts
 * const tools = guardTools([pay], hf, { pay: { kind: "write", intent } }, { thread: chatId, messages });
 * await client.beta.messages.toolRunner({ model, max_tokens: 1_024, messages, tools });
 * ```
 */
export function guardTools<const T extends readonly object[]>(
  tools: T,
  hf: Holdfire,
  rules: RulesByName<TypesOf<T[number]>>,
  options: RunnerTurnOptions = {},
): { -readonly [K in keyof T]: T[K] } {
  const names = tools.filter(isRunnable).map(({ name }) => name);
  const ruleOf = checkRules(rules, names);
  const guarded = tools.map((tool) =>
    isRunnable(tool) ? guardTool(tool, hf, ruleOf(tool.name), options) : tool,
  );
  return guarded as unknown as { -readonly [K in keyof T]: T[K] };
}

const isRunnable = (tool: object): tool is RunnableTool =>
  typeof peek(tool, "run") === "function" && typeof peek(tool, "name") === "string";

function guardTool(
  tool: RunnableTool,
  hf: Holdfire,
  rules: ToolRules,
  options: RunnerTurnOptions,
): object {
  const { name } = tool;
  const { schema, property } = hideKey(tool.input_schema);
  const keys = keyNamesOf(tool.input_schema);
  const call = guardFunction<unknown>(hf, {
    name,
    rules,
    keys,
    line: LINE,
    source: tool.run,
    execute: (args, attempt, context) =>
      tool.run(args as never, withAttempt(context, attempt, "signal") as never),
  });
  const check = checkWithoutKey(
    (content) => (tool.parse ? tool.parse(content) : content),
    property,
  );
  const parse = (content: unknown) => check(withoutMadeUp(content, keys));
  const description = describe(tool.description, rules.alsoDoes);
  const guarded = {
    ...tool,
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { input_schema: schema }),
    parse,
    run: async (args: unknown, context: unknown) => {
      const signal = (peek(context, "signal") ?? undefined) as AbortSignal | undefined;
      const toolCallId = peek(peek(context, "toolUse"), "id");
      const given = { toolCallId, signal, context: contextNow(context) };
      return shown(await call(args, { ...runnerTurn(options), ...given }));
    },
  };
  return putHandle(guarded, {
    name,
    read: parse,
    call: async (args, given) => {
      const { signal, toolCallId } = given;
      const context = { toolUse: { type: "tool_use", id: toolCallId, name, input: args }, signal };
      return shown(await call(args, { ...given, context }));
    },
  });
}

/** Blocks stay blocks, behind the envelope; text that is JSON is not packed into text again. */
function shown({ data, ...envelope }: Reply): string | readonly unknown[] {
  const isBlocks = Array.isArray(data) && data.every((block) => peek(block, "type") !== undefined);
  if (isBlocks) return [{ type: "text", text: JSON.stringify(envelope) }, ...data];
  return toldText({ ...envelope, data: unpacked(data) });
}

const unpacked = (data: unknown): unknown =>
  typeof data === "string" && /^\s*[[{]/.test(data) ? (tryCall(JSON, "parse", data) ?? data) : data;

/** `hf.statusTool()` as a tool of the runner. */
export function statusTool(hf: Holdfire, options: RunnerTurnOptions = {}): RunnableStatusTool {
  const status = hf.statusTool();
  const { toolName: name, description, inputSchema } = status;
  const ask = async (args: unknown, turn: Turn) =>
    JSON.stringify(await statusCall(status, args, turn, LINE));
  const tool: RunnableStatusTool = {
    type: "custom",
    name,
    description,
    input_schema: inputSchema as unknown as RunnableStatusTool["input_schema"],
    parse: (content) => content as StatusQuestion,
    run: (args) => ask(args, runnerTurn(options)),
  };
  return putHandle(tool, { name, call: ask });
}

/** The status tool, by the structure of a tool of the runner. */
export interface RunnableStatusTool {
  type: "custom";
  name: string;
  description: string;
  input_schema: { type: "object"; [keyword: string]: unknown };
  parse(content: unknown): StatusQuestion;
  run(args: StatusQuestion): Promise<string>;
}
