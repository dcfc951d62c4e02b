/**
 * Guards the tools of the OpenAI SDK, in each of the shapes it runs: `runTools` (plain and zod), tools of
 * the responses API (zod), and functions of `ResponsesToolRunner`.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { standsFor } from "../../engine/define/source.ts";
import { peek, peekItems } from "../../lang/peek.ts";
import { describe, guardFunction, withAttempt } from "../shared/tools/guard-function.ts";
import { checkWithoutKey, hideKey, keyNamesOf, withoutMadeUp } from "../shared/tools/hidden-key.ts";
import { toldText } from "../shared/tools/reply-text.ts";
import { runOfCalls } from "../shared/tools/response-names.ts";
import { checkRules, type RulesByName, type ToolRules } from "../shared/tools/rules.ts";
import { type Handle, putHandle } from "../shared/tools/tool-loop.ts";
import { type RunnerTurnOptions, runnerTurn, type Turn } from "../shared/tools/turn.ts";
import type { OpenAiToolTypes } from "./tool-types.ts";

const BRAND = "$brand";

/**
 * The same tools under the guard; the model reads the envelope. Each has a rule: `"read"`, `"write"`,
 * `"destructive"`, or an object. One without a function (those of the provider) needs none and stays as it is.
 *
 * @example
 * ```ts
 * const tools = guardTools([pay], hf, { pay: { kind: "write", intent } }, { thread: chatId });
 * await client.chat.completions.runTools({ model, messages, tools }).finalContent();
 * ```
 */
export function guardTools<const T extends readonly object[]>(
  tools: T,
  hf: Holdfire,
  rules: RulesByName<OpenAiToolTypes<T[number]>>,
  options: RunnerTurnOptions = {},
): { -readonly [K in keyof T]: T[K] } {
  const shapes = tools.map((tool) => shapeOf(tool));
  const ruleOf = checkRules(
    rules,
    shapes.flatMap((shape) => (shape ? [shape.name] : [])),
  );
  const guarded = shapes.map((shape, at) =>
    shape ? shape.guard(hf, ruleOf(shape.name), options) : tools[at],
  );
  return guarded as unknown as { -readonly [K in keyof T]: T[K] };
}

interface Shape {
  readonly name: string;
  readonly guard: (hf: Holdfire, rules: ToolRules, options: RunnerTurnOptions) => object;
}

function shapeOf(tool: object): Shape | undefined {
  const { $callback, $parseRaw, execute } = tool as Readonly<Record<string, unknown>>;
  const declared = peek(tool, "function") as
    | (Declaration & Readonly<Record<string, unknown>>)
    | undefined;
  if (peek(tool, BRAND) !== undefined && typeof $callback === "function") {
    return declared
      ? chatShape(tool, declared, $callback as Fn, $parseRaw as Fn)
      : responseShape(tool, $callback as Fn, $parseRaw as Fn);
  }
  if (typeof declared?.function === "function") {
    return chatShape(tool, declared, declared.function as Fn, declared.parse as Fn | undefined);
  }
  return typeof execute === "function" ? runnerShape(tool, execute as Fn) : undefined;
}

/** For `runTools`: `{ type: "function", function: { function, parse, … } }`. */
function chatShape(tool: object, declared: Declaration, run: Fn, parse: Fn | undefined): Shape {
  const name = declared.name ?? run.name;
  return {
    name,
    guard(hf, rules, options) {
      const prepared = prepare(name, declared, { hf, rules, run, parse });
      const { declaration, make, read } = prepared;
      return putHandle(
        {
          ...tool,
          type: "function",
          function: {
            ...declaration,
            name,
            parse: async (raw: string) => ({ raw, args: await read(raw) }),
            function: ({ raw, args }: Parsed, runner: unknown, context: unknown) => {
              const messages = peek(runner, "messages");
              return make({
                args,
                toolCallId: callIdsIn(messages, name, raw),
                signal: peek(peek(runner, "controller"), "signal") as AbortSignal | undefined,
                turn: { ...options, messages, run: runOfCalls(messages) },
                rest: [runner, context],
              });
            },
          },
        },
        handleOf(name, prepared),
      );
    },
  };
}

interface Parsed {
  readonly raw: string;
  readonly args: unknown;
}

/** For hand-written loops and `runnerFunction`: `zodResponsesFunction(…)`. */
function responseShape(tool: object, run: Fn, parse: Fn): Shape {
  const declared = tool as Declaration & { readonly name: string };
  return {
    name: declared.name,
    guard(hf, rules, options) {
      const prepared = prepare(declared.name, declared, { hf, rules, run, parse });
      const { declaration, make, read } = prepared;
      const copy = Object.defineProperties(
        { ...declaration },
        {
          [BRAND]: { value: peek(tool, BRAND) },
          $parseRaw: { value: read },
          $callback: {
            value: (args: unknown) => make({ args, turn: runnerTurn(options), rest: [] }),
          },
        },
      );
      return putHandle(copy, handleOf(declared.name, prepared));
    },
  };
}

/** For `ResponsesToolRunner`: `{ tool, execute }`. It tells no tool-call id. */
function runnerShape(runnable: object, execute: Fn): Shape | undefined {
  const declared = peek(runnable, "tool") as Declaration | undefined;
  const name = declared?.name;
  if (!declared || name === undefined) return undefined;
  return {
    name,
    guard(hf, rules, options) {
      const run: Fn = standsFor((args, given) => execute.call(runnable, args, given), execute);
      const prepared = prepare(name, declared, { hf, rules, run, withSignal: true });
      const { declaration, make } = prepared;
      return putHandle(
        {
          ...runnable,
          tool: declaration,
          execute: (args: unknown, given?: { readonly signal?: AbortSignal }) =>
            make({
              args,
              signal: given?.signal,
              turn: runnerTurn(options),
              rest: [given],
            }),
        },
        handleOf(name, prepared),
      );
    },
  };
}

/** `runTools` tells no tool-call id: it stands in the last message, beside the name and the very arguments. */
function callIdsIn(messages: unknown, name: string, raw: string): readonly string[] {
  const all = peekItems(messages, Number.MAX_SAFE_INTEGER);
  const last = all.findLast((message) => peek(message, "tool_calls"));
  return peekItems(peek(last, "tool_calls"), 1_000)
    .filter((call) => {
      const made = peek(call, "function");
      return peek(made, "name") === name && peek(made, "arguments") === raw;
    })
    .map((call) => String(peek(call, "id")));
}

type Fn = (...args: readonly unknown[]) => unknown;

/** What a tool is declared with, wherever its shape keeps it. */
interface Declaration {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly parameters?: unknown;
}

/** One call, as one of the runners makes it. */
interface Made {
  readonly args: unknown;
  readonly toolCallId?: readonly string[] | string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly turn: Turn;
  /** What the function is given after its arguments. */
  readonly rest: readonly unknown[];
}

interface Parts {
  readonly hf: Holdfire;
  readonly rules: ToolRules;
  readonly run: Fn;
  readonly parse?: Fn | undefined;
  /** Whether the function is given `{ signal }`, and arguments that are parsed already. */
  readonly withSignal?: boolean | undefined;
}

interface Prepared {
  /** For the model: without the key, with what else the tool does. */
  readonly declaration: Declaration;
  /** Calls it under the guard; the text that the model reads. */
  readonly make: (made: Made) => Promise<string>;
  /** From the model's text to the arguments, by the tool's own parser. */
  readonly read: (raw: string) => unknown;
}

const LINE = "Pass { thread, messages } to guardTools";

function prepare(name: string, declared: Declaration, parts: Parts): Prepared {
  const { hf, rules, run, parse, withSignal } = parts;
  const { schema: parameters, property } = hideKey(declared.parameters);
  const keys = keyNamesOf(declared.parameters);
  const takesText = !parse && !withSignal;
  const call = guardFunction<readonly unknown[]>(hf, {
    name,
    rules,
    keys,
    line: LINE,
    source: run,
    execute: (args, attempt, rest = []) =>
      run(
        takesText ? JSON.stringify(args) : args,
        ...(withSignal ? [withAttempt(rest[0], attempt, "signal")] : rest),
      ),
  });
  const description = describe(declared.description, rules.alsoDoes);
  return {
    declaration: { ...declared, parameters, ...(description === undefined ? {} : { description }) },
    make: async ({ args, turn, rest, ...made }) =>
      toldText(await call(args, { ...turn, ...made, context: rest })),
    read(raw) {
      if (!parse) return JSON.parse(raw);
      const check = checkWithoutKey((args) => parse(JSON.stringify(args)), property);
      return check(withoutMadeUp(JSON.parse(raw), keys));
    },
  };
}

/** For a loop of the user's own, which knows the turn. */
const handleOf = (name: string, { make, read }: Prepared): Handle => ({
  name,
  read: (args) => read(JSON.stringify(args)),
  call: (args, { signal, toolCallId, ...turn }) =>
    make({ args, signal, toolCallId, turn, rest: [] }),
});
