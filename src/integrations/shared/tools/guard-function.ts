/**
 * The core of every framework's adapter: its function under the guard, and what the model is told. MCP has a core of its own,
 * in `mcp/guarded-call.ts`.
 *
 * A thin adapter maps names: it says where the framework keeps the arguments, the tool-call id, the signal
 * and the conversation. Everything else happens here and in the engine. An adapter, as `ai/tools.ts` has it: `checkRules`; then
 * for each tool `guardFunction`; and for each call `turnFrom` (`turn.ts`), `runOfSteps` and `stepOfList` (`run-name.ts`), and
 * `told` (`reply-text.ts`).
 *
 * `docs/write-an-adapter.md` has the contract of an adapter, and the list of what a new framework in this package needs.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { Holdfire } from "../../../api.ts";
import type { StatusReply, StatusTool } from "../../../engine/admin/status-tool.ts";
import { ADAPTER_DEADLINE_MS } from "../../../engine/define/define-tool.ts";
import type { AttemptContext } from "../../../engine/define/definition.ts";
import { standsFor } from "../../../engine/define/source.ts";
import type { Reply } from "../../../engine/outcome/reply.ts";
import { InvalidInputError, VolatileIntentError } from "../../../errors.ts";
import { canonicalize } from "../../../key/canonical.ts";
import { checkAlias } from "../../../key/check-name.ts";
import type { Json } from "../../../key/json.ts";
import { findVolatileId } from "../../../key/volatile-ids.ts";
import { ignoreRejection, peek } from "../../../lang/peek.ts";
import { failureIn } from "./failed-result.ts";
import { type KeyNames, keyNamesOf, withKey, withoutKey, withoutMadeUp } from "./hidden-key.ts";
import type { RuledCall, ToolRules } from "./rules.ts";
import { type FoundTurn, inTurn, type Turn } from "./turn.ts";

export interface GuardedFunction<C> {
  readonly name: string;
  readonly rules: ToolRules;
  /** The framework's own function, once per attempt. `call` is missing when no caller waits for it. */
  readonly execute: (args: unknown, attempt: AttemptContext, call: C | undefined) => unknown;
  /** The user's function, where `execute` only calls it: tells two tools of one name apart. */
  readonly source?: unknown;
  /** The key-like properties of the schema, see `keyNamesOf`; or how to find out. @default none */
  readonly keys?: KeyNames | (() => KeyNames | Promise<KeyNames>) | undefined;
  /** The line to add where a call has no scope, e.g. `guardTools(tools, hf, rules, { thread: chatId })`. */
  readonly line: string;
}

/** One call, as the framework makes it. */
interface ToolCall<C> extends FoundTurn {
  /**
   * Kept as an alias; never part of a key. Several, where the framework does not tell which it is. An id that the
   * ledger would not take is left out.
   */
  readonly toolCallId?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** What the framework gave its function beside the arguments; handed on to `execute`. */
  readonly context: C;
}

/**
 * Calls the tool under the guard. Throws only what is certain to have sent nothing.
 *
 * The arguments, the turn and the rule's `again` are read before anything is waited for: whoever uses its objects for the
 * next call, or goes on with its conversation, changes nothing of this one.
 */
export type CallGuarded<C> = (args: unknown, call: ToolCall<C>) => Promise<Reply>;

interface Current {
  readonly of: object;
  readonly call: unknown;
}

/** Arguments go through the ledger; what a framework gives beside them stays in the process. */
const current = new AsyncLocalStorage<Current>();

export function guardFunction<C>(hf: Holdfire, options: GuardedFunction<C>): CallGuarded<C> {
  const { name, execute, keys = keyNamesOf(undefined), line } = options;
  const { again, ...rules } = options.rules;
  const names = () => (typeof keys === "function" ? keys() : keys);
  const tool = hf.tool<Json, unknown>({
    deadlineMs: ADAPTER_DEADLINE_MS,
    ...rules,
    name,
    run: standsFor(async (args: unknown, attempt: AttemptContext) => {
      const now = current.getStore();
      const call = now?.of === options ? (now.call as C) : undefined;
      const { property } = await names();
      const filled = property === undefined ? args : withKey(args, property, attempt.key);
      const result = await attempts.run(attempt, () => execute(filled, attempt, call));
      // Of a read, what the server says is the answer, whatever it says.
      const failure = rules.kind === "read" ? undefined : failureIn(result);
      if (failure) throw failure;
      return result;
    }, options.source),
  });
  return async (given, { toolCallId, signal, context, step, ...turn }) => {
    const copy = canonicalize(given, "args").value;
    const known = ignoreRejection(names());
    const aliases = aliasesOf(toolCallId);
    const seen = withoutKeys(copy, known instanceof Promise ? NOT_KNOWN_YET : known);
    const wanted = wantedAgain(name, again, seen, { ...turn, aliases, context });
    const reply = async (scope: string | undefined) => {
      const args = withoutKeys(copy, await known) as Json;
      return current.run({ of: options, call: context }, () =>
        tool.reply(args, { scope, signal, aliases, step, again: wanted }),
      );
    };
    // A read needs no scope; what it calls in turn may need one.
    return inTurn(turn, { tool: name, line: rules.kind === "read" ? undefined : line }, reply);
  };
}

/** No key of a model's own making must reach `again`: where the schema is still to come, none that looks like one does. */
const NOT_KNOWN_YET: KeyNames = keyNamesOf(undefined);

const withoutKeys = (args: unknown, known: KeyNames): unknown =>
  withoutMadeUp(withoutKey(args, known.property), known);

/** What the rule's `again` says of this call. An id that is new with every try would make each try another operation. */
export function wantedAgain(
  tool: string,
  again: ToolRules["again"],
  args: unknown,
  call: Turn & { readonly aliases: readonly string[]; readonly context: unknown },
): string | undefined {
  if (!again) return undefined;
  const { scope, thread, turn, messages, aliases, context } = call;
  const ruled: RuledCall = { toolCallId: aliases[0], scope, thread, turn, messages, context };
  const wanted: unknown = ignoreRejection(again(args, ruled));
  if (wanted !== undefined && typeof wanted !== "string") {
    throw new InvalidInputError("rules.again", "must return a text, or undefined; not a promise.");
  }
  const isVolatile = wanted !== undefined && findVolatileId(wanted, aliases) !== undefined;
  if (isVolatile) throw new VolatileIntentError(tool, "again");
  return wanted;
}

/** An id that the ledger would not take is no reason to fail. */
export function aliasesOf(toolCallId: unknown): readonly string[] {
  return [toolCallId].flat().filter((id): id is string => {
    try {
      return checkAlias(id) !== undefined;
    } catch {
      return false;
    }
  });
}

/** What the model is told of a tool: the description with `alsoDoes` at its end. */
export function describe(
  description: string | undefined,
  alsoDoes: readonly string[] = [],
): string | undefined {
  if (alsoDoes.length === 0) return description;
  const also = `It also ${alsoDoes.join("; ")}.`;
  return description ? `${description.trimEnd()}\n${also}` : also;
}

/** The status tool, asked by a model in the scope of its turn. `line` is what a user must add where there is none. */
export async function statusCall(
  status: StatusTool,
  args: unknown,
  turn: Turn,
  line: string,
): Promise<StatusReply> {
  const question = { ...(args as { readonly operation: string }) };
  return inTurn(turn, { tool: status.toolName, line }, (scope) =>
    status.reply(question, { scope }),
  );
}

const ATTEMPT = Symbol.for("holdfire.attempt");

/** What the framework gives beside the arguments, as it is now: a program may use its object for the next call. */
export const contextNow = <C>(context: C): C =>
  typeof context === "object" && context !== null
    ? Object.create(Object.getPrototypeOf(context), Object.getOwnPropertyDescriptors(context))
    : context;

/**
 * A copy of the framework's context with the attempt's signal under the framework's name for it, and with
 * `key` and `attempt`. They are not enumerable: a function that copies its context has not taken the key.
 */
export function withAttempt(
  context: unknown,
  attempt: AttemptContext,
  signalName: string,
): Record<PropertyKey, unknown> {
  return Object.defineProperties(contextNow(Object(context ?? {})), {
    [signalName]: { value: attempt.signal, enumerable: true, configurable: true, writable: true },
    key: { get: () => attempt.key, enumerable: false, configurable: true },
    attempt: { value: attempt.attempt, enumerable: false, configurable: true },
    [ATTEMPT]: { value: attempt, enumerable: false, configurable: true },
  });
}

/** For frameworks that give their functions no context: `attemptOf()` finds the attempt all the same. */
const attempts = new AsyncLocalStorage<AttemptContext>();

/**
 * The attempt that a guarded tool's function runs in: the key, the attempt's number, its signal. Give it the
 * context that the function was given, or nothing where there is none.
 *
 * @example
 * ```ts
 * execute: (input, options) => bank.pay(input, { idempotencyKey: attemptOf(options).key })
 * ```
 */
export function attemptOf(context?: unknown): AttemptContext {
  const attempt = (peek(context, ATTEMPT) as AttemptContext | undefined) ?? attempts.getStore();
  if (!attempt) throw new InvalidInputError("context", "must be what a guarded tool was given.");
  return attempt;
}
