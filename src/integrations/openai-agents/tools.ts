/**
 * Guards the tools of `@openai/agents`: `run`, streams, `needsApproval`, a `RunState` that is resumed twice.
 *
 * What is guarded is the definition that `tool()` is given, not the tool it makes: a made tool turns what its
 * function throws into text for the model, and a lost reply would look like a result.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { InvalidInputError } from "../../errors.ts";
import { peek } from "../../lang/peek.ts";
import {
  contextNow,
  describe,
  guardFunction,
  statusCall,
  withAttempt,
} from "../shared/tools/guard-function.ts";
import { hideKey, type KeyNames, keyNamesOf, withoutMadeUp } from "../shared/tools/hidden-key.ts";
import { told } from "../shared/tools/reply-text.ts";
import { type FirstArgument, readRule, type ToolRule } from "../shared/tools/rules.ts";
import {
  type FromContext,
  fromContext,
  nameOf,
  type Turn,
  turnFrom,
} from "../shared/tools/turn.ts";

/** What `tool()` of the agents SDK is given, by structure. */
export interface AgentToolDefinition {
  readonly name?: string | undefined;
  readonly description: string;
  readonly parameters?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: tools of any input, context and output
  readonly execute: (input: any, runContext?: any, details?: any) => unknown;
}

/** The run's context, as the SDK hands it to a tool. */
export interface AgentRunContext {
  // biome-ignore lint/suspicious/noExplicitAny: it is the user's own
  readonly context: any;
}

/**
 * Which request of a person a run works for. The SDK tells its tools nothing of the conversation; what a function
 * here is to find must stand in the `context` of the run, which a serialized `RunState` keeps.
 */
export interface AgentTurnOptions {
  /** The conversation, as you name it; with what persons have said it makes the scope. */
  readonly thread?: FromContext<string, AgentRunContext>;
  /** Your own id of the request in the thread (a message id of your store), in place of what persons have said. */
  readonly turn?: FromContext<string, AgentRunContext>;
  /** The input of the run: text, or the list of items. */
  readonly messages?: FromContext<string | readonly unknown[], AgentRunContext>;
  /** The scope itself, in place of the turn: one id per request of a person, job or step. */
  readonly scope?: FromContext<string, AgentRunContext>;
}

const LINE = "Pass { thread, messages } or { scope: ({ context }) => context.turn } to guardTool";

/** What stays in the process of one call. */
interface AgentCall {
  readonly runContext: unknown;
  readonly details: unknown;
}

/**
 * The same definition under the guard, for `tool()`; the model reads the envelope. The rule is `"read"`, `"write"`,
 * `"destructive"`, or an object.
 *
 * `execute` gets the attempt's signal in `details.signal`, and `key` and `attempt` beside it (see `attemptOf`).
 *
 * @example
 * ```ts
 * const pay = tool(guardTool({ name: "pay", description, parameters, execute }, hf, { kind: "write", intent }, {
 *   scope: ({ context }) => context.turn,
 * }));
 * await run(new Agent({ name: "clerk", tools: [pay] }), "Pay p1", { context: { turn: "chat-7/3" } });
 * ```
 */
export function guardTool<D extends AgentToolDefinition>(
  definition: D,
  hf: Holdfire,
  rule: ToolRule<FirstArgument<D["execute"]>, Awaited<ReturnType<D["execute"]>>>,
  options: AgentTurnOptions = {},
): D {
  const rules = readRule(rule);
  const { execute } = definition;
  if (typeof execute !== "function") {
    const rule = "must be what tool() is given; a tool made already hides whether it failed.";
    throw new InvalidInputError("definition", rule);
  }
  const { schema } = hideKey(definition.parameters);
  const keys = keyNamesOf(definition.parameters);
  const call = guardFunction<AgentCall>(hf, {
    name: definition.name ?? execute.name,
    rules,
    keys,
    line: LINE,
    source: execute,
    execute: (args, attempt, given) =>
      execute.call(
        definition,
        args,
        given?.runContext,
        withAttempt(given?.details, attempt, "signal"),
      ),
  });
  const timeoutMs = ownTimeout(definition);
  return {
    ...definition,
    ...(timeoutMs === undefined ? {} : { timeoutMs: undefined }),
    name: definition.name ?? execute.name,
    description: describe(definition.description, rules.alsoDoes),
    parameters: parsedWithoutMadeUp(schema, keys),
    // The envelope is not what a schema of the tool's own result describes.
    outputSchema: undefined,
    execute: async (args: unknown, runContext: unknown, details: unknown) => {
      const reply = await call(args, {
        ...turnOf(runContext, options),
        toolCallId: peek(peek(details, "toolCall"), "callId"),
        signal: signalFor(peek(details, "signal"), timeoutMs),
        // The run's context is one for all its calls, and functions write to it.
        context: { runContext, details: contextNow(details) },
      });
      return told(reply);
    },
  };
}

/**
 * The SDK would tell the model "timed out" and drop the answer, which says that the call may still land. So a timeout that is
 * told to the model is the guard's; one that ends the run, or has words of its own, stays the SDK's.
 */
function ownTimeout(definition: AgentToolDefinition): number | undefined {
  const timeoutMs = peek(definition, "timeoutMs");
  const isTold =
    peek(definition, "timeoutBehavior") !== "raise_exception" &&
    peek(definition, "timeoutErrorFunction") === undefined;
  const isTime = typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs <= MOST_MS;
  return isTold && isTime ? Math.ceil(timeoutMs) : undefined;
}

/** What a timer takes; the SDK refuses more in its own words. */
const MOST_MS = 2_147_483_647;

function signalFor(signal: unknown, timeoutMs: number | undefined): AbortSignal | undefined {
  const given = signal instanceof AbortSignal ? [signal] : [];
  if (timeoutMs === undefined) return given[0];
  return AbortSignal.any([...given, AbortSignal.timeout(timeoutMs)]);
}

/** A strict zod object would refuse what a model made up. The SDK calls `parse`; all else is the schema's own. */
function parsedWithoutMadeUp(schema: unknown, keys: KeyNames): unknown {
  const parse = peek(schema, "parse");
  if (typeof parse !== "function" || peek(schema, "shape") === undefined) return schema;
  return Object.create(schema as object, {
    parse: {
      value: (args: unknown, ...rest: unknown[]) =>
        Reflect.apply(parse, schema, [withoutMadeUp(args, keys), ...rest]),
    },
  });
}

/** `hf.statusTool()` as a definition for `tool()`. */
export function statusTool(
  hf: Holdfire,
  options: AgentTurnOptions = {},
): AgentToolDefinition & { readonly name: string; readonly strict: false } {
  const status = hf.statusTool();
  return {
    name: status.toolName,
    description: status.description,
    parameters: status.inputSchema,
    strict: false,
    execute: (args: unknown, runContext: unknown) =>
      statusCall(status, args, turnOf(runContext, options), LINE),
  };
}

function turnOf(runContext: unknown, options: AgentTurnOptions): Turn {
  const given = { context: peek(runContext, "context") };
  const turn = turnFrom(options, given, fromContext(options.messages, given));
  // What was used so far is counted for a whole run, also through handoffs and agents as tools.
  const usage = peek(runContext, "usage");
  return typeof usage === "object" && usage !== null ? { ...turn, run: nameOf(usage) } : turn;
}
