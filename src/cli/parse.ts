/**
 * From what was typed to what a command is given. `parseArgs` reads; the complaints are ours, so that
 * they can say what would be right.
 *
 * @module
 */

import { parseArgs } from "node:util";
import type { Args, Command, Options } from "./command.ts";
import { nearest } from "./did-you-mean.ts";
import { UsageError } from "./exit.ts";
import { visible } from "./printable.ts";

type Token = NonNullable<ReturnType<typeof tokensOf>>[number];

const tokensOf = (argv: readonly string[], options: Options) =>
  parseArgs({
    args: [...argv],
    // Only what parseArgs knows, in its own shape.
    options: Object.fromEntries(
      Object.entries(options).map(([name, { type, short }]) => [
        name,
        short === undefined ? { type } : { type, short },
      ]),
    ),
    strict: false,
    tokens: true,
  }).tokens;

export function parseFor(command: Command, argv: readonly string[]): Args {
  const { options, takes, rest: takesRest } = command;
  const end = argv.indexOf("--");
  const before = end < 0 ? argv : argv.slice(0, end);
  const after = end < 0 ? [] : argv.slice(end + 1);
  const tokens = tokensOf(before, options);
  const typed = tokens.flatMap((token) => (token.kind === "positional" ? [token.value] : []));
  const positionals = takesRest === undefined ? [...typed, ...after] : typed;
  const values: Record<string, unknown> = {};
  for (const [name, { type, multiple }] of Object.entries(options)) {
    values[name] = type === "boolean" ? false : multiple ? [] : undefined;
  }
  for (const token of tokens) {
    if (token.kind === "option") take(token, options, values);
  }
  if (values.help !== true) checkCount(positionals, takes);
  return { values, positionals, rest: takesRest === undefined ? [] : after } as Args;
}

function take(
  token: Extract<Token, { kind: "option" }>,
  options: Options,
  values: Record<string, unknown>,
): void {
  const { name, rawName, value, inlineValue } = token;
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (!option) {
    const meant = nearest(name, Object.keys(options));
    const hint = meant && `Did you mean --${meant}?`;
    throw new UsageError(`There is no option ${visible(rawName)}.`, hint);
  }
  if (option.type === "boolean") {
    if (value !== undefined) throw new UsageError(`--${name} takes no value.`);
    values[name] = true;
    return;
  }
  const looksLikeOption = inlineValue === false && value?.startsWith("-") && value !== "-";
  if (value === undefined || value === "" || looksLikeOption) {
    const hint = looksLikeOption ? `If it begins with a dash: --${name}=VALUE` : undefined;
    throw new UsageError(`--${name} needs a value.`, hint);
  }
  const before = values[name];
  if (Array.isArray(before)) {
    before.push(value);
    return;
  }
  if (before !== undefined) throw new UsageError(`--${name} was given twice.`);
  values[name] = value;
}

/** `KEY` is needed, `[KEY]` may be left out, `KEY...` may be several. */
function checkCount(given: readonly string[], takes: readonly string[]): void {
  const missing = takes.filter((name) => !name.startsWith("["))[given.length];
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`);
  const open = takes.some((name) => name.includes("..."));
  const extra = open ? undefined : given[takes.length];
  if (extra !== undefined) {
    const hint = takes.length === 0 ? "It takes options only." : `It takes ${takes.join(" ")}.`;
    throw new UsageError(`"${visible(extra)}" is one too many.`, hint);
  }
}

/** A whole number from an option. */
export function wholeNumberOf(
  name: string,
  text: string | undefined,
  { min = 1, max = Number.MAX_SAFE_INTEGER }: { readonly min?: number; readonly max?: number } = {},
): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  throw new UsageError(`--${name} must be a whole number ${range}, got "${visible(text)}".`);
}
