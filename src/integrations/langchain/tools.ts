/**
 * Guards single tools of LangChain and LangGraph: for ToolNode, or called in a node. Agents have `middleware.ts`.
 *
 * A node is run again by `retryPolicy`, after `interrupt` and after a crash; ToolNode then also runs those of
 * its parallel calls that had gone well. All of these are the same turn, or the same task.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { InvalidInputError } from "../../errors.ts";
import { peek } from "../../lang/peek.ts";
import { copyArguments } from "../shared/tools/copy-arguments.ts";
import {
  type CallGuarded,
  describe,
  guardFunction,
  statusCall,
  withAttempt,
} from "../shared/tools/guard-function.ts";
import { keyNamesOf, withoutMadeUp } from "../shared/tools/hidden-key.ts";
import { toldText } from "../shared/tools/reply-text.ts";
import {
  checkRules,
  type KnownOrAny,
  type RulesByName,
  readRule,
  type ToolRule,
  type ToolRules,
} from "../shared/tools/rules.ts";
import { findTurn } from "../shared/tools/turn.ts";
import { shownSchema } from "./schema.ts";
import { type LangChainTurnOptions, langChainTurn } from "./turn.ts";

/** A tool of LangChain (`tool(…)`, `StructuredTool`), by structure. */
export interface LangChainTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: tools of any input and output
  invoke(...args: any[]): Promise<any>;
}

// biome-ignore lint/suspicious/noExplicitAny: tools of any input and output
type Any = any;

/** What the type of a tool tells: `tool(…)` keeps its name, its input and its output. */
type TypesOf<T> = T extends { readonly name: infer N extends string }
  ? T extends { readonly func: (input: infer A, ...rest: Any[]) => infer R }
    ? { readonly name: N; readonly args: A; readonly result: OutputOf<R> }
    : { readonly name: N; readonly args: Any; readonly result: Any }
  : never;

/** A function that yields has its last value as output, which its type does not tell. */
type OutputOf<R> = Awaited<R extends AsyncGenerator<Any, Any, Any> ? never : R>;

type RuleFor<T> = ToolRule<KnownOrAny<TypesOf<T>["args"]>, TypesOf<T>["result"]>;

/**
 * The same tool under the guard; the model reads the envelope. The rule is `"read"`, `"write"`, `"destructive"`, or
 * an object.
 *
 * The tool's function finds the attempt by `attemptOf()`: its key, its number, and its signal. The config's own
 * `signal` is removed for tools made by `tool(…)`, as LangChain would not wait for them once it fires.
 *
 * @example
 * ```ts
 * const pay = guardTool(tool(send, { name: "pay", schema }), hf, { kind: "write", intent });
 * await createAgent({ model, tools: [pay] }).invoke({ messages }, { configurable: { thread_id } });
 * ```
 */
export function guardTool<T extends LangChainTool>(
  tool: T,
  hf: Holdfire,
  rule: RuleFor<T>,
  options: LangChainTurnOptions = {},
): T {
  const rules = readRule(rule);
  const own = { shown: () => tool, sole: () => tool };
  const call = guardNamed(hf, tool.name, rules, own, peek(tool, "func"));
  return guarded(tool, call, rules, options);
}

/** `guardTool` for several tools, with a rule for each by its name. */
export function guardTools<const T extends readonly LangChainTool[]>(
  tools: T,
  hf: Holdfire,
  rules: RulesByName<TypesOf<T[number]>>,
  options: LangChainTurnOptions = {},
): { -readonly [K in keyof T]: T[K] } {
  const ruleOf = checkRules(
    rules,
    tools.map(({ name }) => name),
  );
  return tools.map((tool) => guardTool(tool, hf, ruleOf(tool.name), options)) as never;
}

/** What `tool(…)` of LangChain takes. */
export type LangChainStatusTool = readonly [
  func: (args: unknown, config: unknown) => Promise<string>,
  fields: { readonly name: string; readonly description: string; readonly schema: object },
];

/**
 * `hf.statusTool()` for LangChain: `tool(...statusTool(hf))`.
 */
export function statusTool(hf: Holdfire, options: LangChainTurnOptions = {}): LangChainStatusTool {
  const status = hf.statusTool();
  const { toolName: name, description, inputSchema: schema } = status;
  return [
    async (args, config) =>
      JSON.stringify(await statusCall(status, args, langChainTurn(config, options), LINE)),
    { name, description, schema },
  ];
}

/** What one call needs in this process, and the ledger cannot keep. */
export interface LangChainCall {
  readonly tool: LangChainTool;
  readonly manager: unknown;
  readonly config: unknown;
  /** What the tool returned, if it was run for this very call. */
  returned?: unknown;
  /** What a tool that reads threw for the graph and not for the model: `interrupt()`. */
  interrupt?: unknown;
}

const LINE =
  "Pass { configurable: { thread_id } } to the graph, or { thread: chatId } to the guard,";

/** Thrown where no tool was called at all. */
const uncalled = new WeakSet<object>();

/** The tools of a name. */
interface NamedTool {
  /** The one whose schema counts. */
  readonly shown: () => LangChainTool | undefined;
  /** The one to use where no call is waiting; `undefined` if that is not known. */
  readonly sole: () => LangChainTool | undefined;
}

export function guardNamed(
  hf: Holdfire,
  name: string,
  rules: ToolRules,
  { shown, sole }: NamedTool,
  source?: unknown,
): CallGuarded<LangChainCall> {
  const { classify, kind } = rules;
  return guardFunction<LangChainCall>(hf, {
    name,
    rules: {
      ...rules,
      classify: (error) => {
        if (uncalled.has(Object(error))) return "not_sent";
        // The graph asks a person: the read is not tried again.
        return isForGraph(error) ? "rejected" : classify?.(error);
      },
    },
    keys: () => keyNamesOf(shown()?.schema),
    line: LINE,
    source,
    async execute(args, attempt, given) {
      const called = given?.tool ?? sole();
      if (!called) {
        const error = new Error(`Which "${name}" it was is not known in this process.`);
        uncalled.add(error);
        throw error;
      }
      const config = withAttempt(given?.config, attempt, "signal");
      // `tool(…)` gives up on its function as soon as the signal fires. The attempt would look ended while the
      // request is under way, and a late reply would be lost. The function finds the signal by `attemptOf()`.
      if (typeof peek(called, "func") === "function") delete config.signal;
      const returned = await callOf(called)(args, given?.manager, config).catch((error) => {
        if (isForGraph(error) && kind !== "read") throw new Error(NO_INTERRUPT);
        if (given && isForGraph(error)) given.interrupt = error;
        throw error;
      });
      if (given) given.returned = returned;
      return isDirect(returned) ? (peek(returned, "content") ?? returned) : returned;
    },
  });
}

/** The given tool, except for its `call` and `_call` (which LangChain calls with arguments that it has checked), schema and description. */
export function guarded<T extends LangChainTool>(
  tool: T,
  call: CallGuarded<LangChainCall>,
  { alsoDoes }: ToolRules,
  options: LangChainTurnOptions,
): T {
  callOf(tool);
  const hasArtifact = peek(tool, "responseFormat") === "content_and_artifact";
  const { schema, check } = shownSchema(tool.schema);
  const turnOf = (config: unknown) => findTurn(langChainTurn(config, options));
  const run = async (args: unknown, manager: unknown, config: unknown, turn = turnOf(config)) => {
    const context: LangChainCall = { tool, manager, config };
    const reply = await call(await check(copyArguments(args)), {
      ...turn,
      toolCallId: peek(peek(config, "toolCall"), "id") ?? peek(config, "toolCallId"),
      signal: peek(config, "signal") as AbortSignal | undefined,
      context,
    });
    if (context.interrupt !== undefined) throw context.interrupt;
    // A Command is for the graph, and only where it was made: the ledger keeps no objects.
    if (reply.ok && !reply.replayed && isCommand(context.returned)) return context.returned;
    if (!hasArtifact) return toldText(reply);
    const [content, artifact] = Array.isArray(reply.data) ? reply.data : [reply.data, undefined];
    return [toldText({ ...reply, data: content }), artifact];
  };
  const keys = keyNamesOf(tool.schema);
  const checked = peek(tool, "call");
  /** A strict schema would refuse what a model made up. And what may change is read here: LangChain waits before `_call`. */
  async function callChecked(this: object, args: unknown, ...rest: unknown[]): Promise<unknown> {
    const turn = turnOf(rest[0]);
    const later: Call = (checked, manager, config) => run(checked, manager, config, turn);
    const once = Object.create(this, { _call: { value: later } });
    return Reflect.apply(checked as Call, once, [
      copyArguments(withoutMadeUp(args, keys)),
      ...rest,
    ]);
  }
  return Object.create(tool, {
    ...(typeof checked === "function" ? { call: { value: callChecked } } : {}),
    schema: { value: schema, enumerable: true },
    description: { value: describe(tool.description, alsoDoes), enumerable: true },
    _call: { value: run },
  }) as T;
}

type Call = (args: unknown, manager: unknown, config: unknown) => Promise<unknown>;

/** What a tool does once its arguments are checked. */
function callOf(tool: LangChainTool): Call {
  const call = peek(tool, "_call");
  if (typeof call === "function") return async (...given) => Reflect.apply(call, tool, given);
  throw new InvalidInputError(`tools.${tool.name}`, "has no function to guard; make it by tool().");
}

/** A message or a Command, which LangChain hands on as it is. */
const isDirect = (value: unknown): boolean => peek(value, "lc_direct_tool_output") === true;
const isCommand = (value: unknown): boolean => peek(value, "lg_name") === "Command";

/** `interrupt()`, and what else LangGraph throws to itself. */
const isForGraph = (error: unknown): boolean => peek(error, "is_bubble_up") === true;

/** Run again from its beginning by the answer, it would do again what it had done before the question. */
const NO_INTERRUPT: string =
  'A guarded tool that writes must not call interrupt(). Ask before it: humanInTheLoopMiddleware, a tool of its own that reads, or kind: "destructive".';
