/**
 * Answers the tool calls of one response, for loops that people write themselves.
 *
 * Every call gets an answer, for a provider refuses a conversation in which one is missing. A model's
 * mistakes (a tool that is not there, arguments that are no JSON or do not fit) are told to the model; a
 * missing scope and the like are thrown.
 *
 * @module
 */

import type { StatusTool } from "../../../engine/admin/status-tool.ts";
import type { CallOptions } from "../../../engine/define/definition.ts";
import { isHoldfireError, MissingScopeError } from "../../../errors.ts";
import { peek } from "../../../lang/peek.ts";
import { copyArguments } from "./copy-arguments.ts";
import { aliasesOf } from "./guard-function.ts";
import { lastByPerson } from "./person-messages.ts";
import { toldText } from "./reply-text.ts";
import { runOfCalls, stepOfCalls } from "./response-names.ts";
import { type FoundTurn, findTurn, inTurn, type Turn } from "./turn.ts";

/** One tool call, as the model made it. */
export interface LoopCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, or what it says. */
  readonly args: unknown;
  /** The response broke off in it: what is there is not what was meant. */
  readonly isCut?: boolean | undefined;
}

/** Which request of a person the response belongs to: `scope`, or `thread` and `messages`. */
export interface LoopOptions extends Turn {
  readonly signal?: AbortSignal | undefined;
}

/** What `hf.tool()` returns, as far as it matters here. */
export interface LoopTool {
  reply(args: never, options?: CallOptions): Promise<unknown>;
  readonly toolName: string;
}

/** What a guarded tool of an SDK does when the loop is the user's own. */
export interface Handle {
  readonly name: string;
  /** The tool's own check of its arguments, or a promise of it. Throws if they do not fit. */
  readonly read?: ((args: unknown) => unknown) | undefined;
  readonly call: (args: unknown, options: HandleOptions) => Promise<unknown>;
}

interface HandleOptions extends LoopOptions, FoundTurn {
  readonly toolCallId: string;
}

/** Tools of an SDK under the guard, or those of `hf.tool()` and `hf.statusTool()`. */
export type LoopTools =
  | readonly (object | LoopTool | StatusTool)[]
  | Readonly<Record<string, LoopTool | StatusTool>>;

const handles = new WeakMap<object, Handle>();

export function putHandle<T extends object>(tool: T, handle: Handle): T {
  handles.set(tool, handle);
  return tool;
}

const LINE = "Pass { thread, messages } to runToolCalls";

/** `content` is text, or blocks that begin with text. */
export interface Answer {
  readonly id: string;
  readonly content: unknown;
}

/**
 * What the model is to read for each call, in order.
 *
 * The calls and the conversation are read before anything is waited for: a loop may go on with either.
 */
export async function answerCalls(
  calls: readonly LoopCall[],
  tools: LoopTools,
  options: LoopOptions,
): Promise<readonly Answer[]> {
  const run = options.run ?? runIn(options.messages, calls);
  const step = options.step ?? stepOfCalls(calls);
  const given = { ...findTurn(options), run, step };
  const byName = handlesOf(tools);
  const answered = await Promise.allSettled(
    calls.map(async (call) => {
      const reply = await answer(call, byName.get(call.name), given);
      const isContent = typeof reply === "string" || Array.isArray(reply);
      return { id: call.id, content: isContent ? reply : toldText(Object(reply)) };
    }),
  );
  return answered.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}

async function answer(
  call: LoopCall,
  tool: Handle | undefined,
  options: Omit<HandleOptions, "toolCallId">,
) {
  if (!tool) return unsent(`There is no tool "${call.name.slice(0, 128)}".`);
  if (call.isCut) return unsent("The call broke off before its end.");
  const reading = argumentsOf(call, tool);
  const { ok, args } = reading instanceof Promise ? await reading : reading;
  if (!ok) return unsent("The arguments are not what the tool takes.");
  try {
    return await tool.call(args, { ...options, toolCallId: call.id });
  } catch (error) {
    const isTheirs = isHoldfireError(error) && error.code === "ERR_HOLDFIRE_INVALID_INPUT";
    if (!isTheirs || !/^args\b/.test(error.path)) throw error;
    return unsent(`The arguments are not what the tool takes (${error.path.slice(0, 128)}).`);
  }
}

interface ReadArguments {
  readonly ok: boolean;
  readonly args: unknown;
}

const MISFIT: ReadArguments = { ok: false, args: undefined };

/** A promise only where the tool's own check is one: its call is then made at once, with all that is asked about it. */
function argumentsOf({ args }: LoopCall, { read }: Handle): ReadArguments | Promise<ReadArguments> {
  try {
    // A copy: the response is the caller's, and a check may change what it is given.
    const parsed: unknown = typeof args === "string" ? JSON.parse(args) : copyArguments(args);
    const checked = read ? read(parsed) : parsed;
    const fits = (value: unknown): ReadArguments => ({ ok: true, args: value });
    const isLater = typeof peek(checked, "then") === "function";
    return isLater ? Promise.resolve(checked).then(fits, () => MISFIT) : fits(checked);
  } catch {
    return MISFIT;
  }
}

/** Certain: it never came to a call. */
const unsent = (why: string) => ({
  ok: false,
  outcome: "not_applied",
  effect: "noop",
  replayed: false,
  message: `${why} Nothing was sent.`,
});

function handlesOf(tools: LoopTools): ReadonlyMap<string, Handle> {
  const named = Array.isArray(tools)
    ? tools.map((tool) => [undefined, tool])
    : Object.entries(tools);
  const found = named.flatMap(([name, tool]) => {
    const handle = handles.get(tool) ?? ownHandle(tool);
    return handle ? [[name ?? handle.name, handle] as const] : [];
  });
  return new Map(found);
}

/** A tool of `hf.tool()` has its own guard; what is added is the turn. A read does without. */
function ownHandle(tool: unknown): Handle | undefined {
  const { toolName: name, reply } = Object(tool) as LoopTool;
  if (typeof name !== "string" || typeof reply !== "function") return undefined;
  const isStatus = peek(tool, "inputSchema") !== undefined;
  return {
    name,
    async call(args, { signal, toolCallId, step, ...turn }) {
      const more = isStatus ? {} : { signal, aliases: aliasesOf(toolCallId), step };
      try {
        return await inTurn(turn, { tool: name, line: undefined }, (scope) =>
          reply(args as never, { scope, ...more }),
        );
      } catch (error) {
        const isMissing = isHoldfireError(error) && error.code === "ERR_HOLDFIRE_MISSING_SCOPE";
        throw isMissing ? new MissingScopeError(name, LINE) : error;
      }
    },
  };
}

/** Without a message of a person it is not known where the run began: all are one. */
function runIn(messages: unknown, [first]: readonly LoopCall[]): string | undefined {
  return lastByPerson(messages) && runOfCalls(messages, first);
}
