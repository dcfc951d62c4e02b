/**
 * One tool of LangChain under the guard: what takes the place of its `_call`, which LangChain calls with
 * arguments that it has checked.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { Holdfire } from "../../holdfire.ts";
import { peek } from "../../lang/peek.ts";
import { withAttempt } from "../shared/tools/attempt-context.ts";
import { describe } from "../shared/tools/describe.ts";
import { type CallGuarded, guardFunction, type ToolRules } from "../shared/tools/guard-tool.ts";
import { hideKey } from "../shared/tools/hidden-key.ts";
import { type LangChainTurnOptions, langChainTurn } from "./turn.ts";

/** A tool of LangChain (`tool(…)`, `StructuredTool`), by structure. */
export interface LangChainTool {
  readonly name: string;
  readonly description: string;
  readonly schema: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: tools of any input and output
  invoke(...args: any[]): Promise<any>;
}

/** What is left of one call in this process, as the ledger cannot keep it. */
export interface LangChainCall {
  readonly tool: LangChainTool;
  readonly manager: unknown;
  readonly config: unknown;
  /** What the tool returned, if it was run for this very call. */
  returned?: unknown;
}

export const LINE =
  "Pass { configurable: { thread_id } } to the graph, or { thread: chatId } to the guard,";

/** Thrown where no tool was called at all. */
const uncalled = new WeakSet<object>();

/** `tool` tells which function to use where no call is waiting. */
export function guardNamed(
  hf: Holdfire,
  name: string,
  rules: ToolRules,
  tool: () => LangChainTool | undefined,
): CallGuarded<LangChainCall> {
  const { classify } = rules;
  return guardFunction<LangChainCall>(hf, {
    name,
    rules: {
      ...rules,
      classify: (error) => (uncalled.has(Object(error)) ? "not_sent" : classify?.(error)),
    },
    keyProperty: async () => hideKey(tool()?.schema).property,
    line: LINE,
    async execute(args, attempt, given) {
      const called = given?.tool ?? tool();
      if (!called) {
        const error = new Error(`"${name}" is not known in this process yet.`);
        uncalled.add(error);
        throw error;
      }
      const config = withAttempt(given?.config, attempt, "signal");
      // `tool(…)` gives up on its function as soon as the signal fires. The attempt would look ended while the
      // request is under way, and a late reply would be lost. The function finds the signal by `attemptOf()`.
      if (typeof peek(called, "func") === "function") delete config.signal;
      const returned = await callOf(called)(args, given?.manager, config);
      if (given) given.returned = returned;
      return isDirect(returned) ? (peek(returned, "content") ?? returned) : returned;
    },
  });
}

/** The given tool but for what it does, what it takes and what it says of itself. */
export function guarded<T extends LangChainTool>(
  tool: T,
  call: CallGuarded<LangChainCall>,
  { alsoDoes }: ToolRules,
  options: LangChainTurnOptions,
): T {
  callOf(tool);
  const hasArtifact = peek(tool, "responseFormat") === "content_and_artifact";
  const { schema, check } = shownSchema(tool.schema);
  const run = async (args: unknown, manager: unknown, config: unknown) => {
    const context: LangChainCall = { tool, manager, config };
    const toolCallId = peek(peek(config, "toolCall"), "id") ?? peek(config, "toolCallId");
    const reply = await call(await check(args), {
      ...langChainTurn(config, options),
      toolCallId: typeof toolCallId === "string" ? toolCallId : undefined,
      signal: peek(config, "signal") as AbortSignal | undefined,
      context,
    });
    // A Command is for the graph, and only where it was made: the ledger keeps no objects.
    if (reply.ok && !reply.replayed && isCommand(context.returned)) return context.returned;
    if (!hasArtifact) return JSON.stringify(reply);
    const [content, artifact] = Array.isArray(reply.data) ? reply.data : [reply.data, undefined];
    return [JSON.stringify({ ...reply, data: content }), artifact];
  };
  return Object.create(tool, {
    schema: { value: schema, enumerable: true },
    description: { value: describe(tool.description, alsoDoes), enumerable: true },
    _call: { value: run },
  }) as T;
}

type Call = (args: unknown, manager: unknown, config: unknown) => unknown;

/** What a tool does once its arguments are checked. */
function callOf(tool: LangChainTool): Call {
  const call = peek(tool, "_call");
  if (typeof call === "function") return call.bind(tool) as Call;
  throw new InvalidInputError(`tools.${tool.name}`, "has no function to guard; make it by tool()");
}

interface Standard {
  readonly validate: (value: unknown) => unknown;
  readonly jsonSchema: { readonly input: (options: object) => object };
}

/** LangChain takes zod and JSON Schema. A zod object that cannot be cut is shown as JSON Schema, and checked here. */
function shownSchema(given: unknown): {
  readonly schema: unknown;
  readonly check: (args: unknown) => Promise<unknown>;
} {
  const { schema, property } = hideKey(given);
  const standard = peek(schema, "~standard") as Standard | undefined;
  const isCut = property === undefined || peek(schema, "_def") !== undefined || !standard;
  if (isCut) return { schema, check: async (args) => args };
  return {
    schema: standard.jsonSchema.input({ target: "draft-07" }),
    async check(args) {
      const checked = await standard.validate(args);
      if (peek(checked, "issues") === undefined) return peek(checked, "value");
      throw new InvalidInputError("args", "are not what the tool takes");
    },
  };
}

/** A message or a Command, which LangChain hands on as it is. */
const isDirect = (value: unknown): boolean => peek(value, "lc_direct_tool_output") === true;
const isCommand = (value: unknown): boolean => peek(value, "lg_name") === "Command";
