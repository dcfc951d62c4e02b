/**
 * What all shapes of an OpenAI tool share: the declaration that the model sees, the parser, and the guarded
 * call.
 *
 * @module
 */

import type { Holdfire } from "../../holdfire.ts";
import { withAttempt } from "../shared/tools/attempt-context.ts";
import { describe } from "../shared/tools/describe.ts";
import { guardFunction, type ToolRules } from "../shared/tools/guard-tool.ts";
import { hideKey, standIn, withoutKey } from "../shared/tools/hidden-key.ts";
import type { Handle } from "../shared/tools/tool-loop.ts";
import type { Turn } from "../shared/tools/turn.ts";

export type Fn = (...args: readonly unknown[]) => unknown;

/** What a tool is declared with, wherever its shape keeps it. */
export interface Declaration {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly parameters?: unknown;
}

/** One call, as one of the runners makes it. */
export interface Made {
  readonly args: unknown;
  readonly toolCallId?: string | readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly turn: Turn;
  /** What the function is given after its arguments. */
  readonly rest: readonly unknown[];
}

export interface Parts {
  readonly hf: Holdfire;
  readonly rules: ToolRules | undefined;
  readonly run: Fn;
  readonly parse?: Fn | undefined;
  /** Whether the function is given `{ signal }`, and an object that nobody need parse. */
  readonly withSignal?: boolean | undefined;
}

export interface Prepared {
  /** For the model: without the key, with what else the tool does. */
  readonly declaration: Declaration;
  /** Calls it under the guard; the text that the model reads. */
  readonly make: (made: Made) => Promise<string>;
  /** From the model's text to the arguments, by the tool's own parser. */
  readonly read: (raw: string) => unknown;
}

const LINE = "Pass { thread, messages } to guardTools";

export function prepare(name: string, declared: Declaration, parts: Parts): Prepared {
  const { hf, rules, run, parse, withSignal } = parts;
  const { schema: parameters, property } = hideKey(declared.parameters);
  const takesText = !parse && !withSignal;
  const call = guardFunction<readonly unknown[]>(hf, {
    name,
    rules,
    keyProperty: property,
    line: LINE,
    execute: (args, attempt, rest = []) =>
      run(
        takesText ? JSON.stringify(args) : args,
        ...(withSignal ? [withAttempt(rest[0], attempt, "signal")] : rest),
      ),
  });
  const description = describe(declared.description, rules?.alsoDoes);
  return {
    declaration: { ...declared, parameters, ...(description === undefined ? {} : { description }) },
    make: async ({ args, turn, rest, ...made }) =>
      JSON.stringify(await call(args, { ...turn, ...made, context: rest })),
    read(raw) {
      if (!parse) return JSON.parse(raw);
      if (property === undefined) return parse(raw);
      const parsed = parse(JSON.stringify(standIn(JSON.parse(raw), property)));
      const strip = (value: unknown) => withoutKey(value, property);
      return parsed instanceof Promise ? parsed.then(strip) : strip(parsed);
    },
  };
}

/** For a loop of the user's own, which knows the turn. */
export const handleOf = (name: string, { make, read }: Prepared): Handle => ({
  name,
  read: async (args) => read(JSON.stringify(args)),
  call: (args, { signal, toolCallId, ...turn }) =>
    make({ args, signal, toolCallId, turn, rest: [] }),
});
