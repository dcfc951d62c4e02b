/**
 * From what was typed to what a command is given. `parseArgs` reads; the error messages are ours, so that
 * they can say what would be right.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { type Args, type Command, type Options, UsageError } from "./command.ts";
import { visible } from "./terminal.ts";

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
  const typedBefore = end < 0 ? argv : argv.slice(0, end);
  const after = end < 0 ? [] : argv.slice(end + 1);
  const isId = (word: string, at: number) =>
    takes.length > 0 && isDashedId(word) && !takesValue(typedBefore[at - 1], options);
  const dashed = typedBefore.filter(isId);
  const before = typedBefore.filter((word, at) => !isId(word, at));
  const tokens = tokensOf(before, options);
  const typed = tokens.flatMap((token) => (token.kind === "positional" ? [token.value] : []));
  const own = [...typed, ...dashed];
  const positionals = takesRest === undefined ? [...own, ...after] : own;
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

/** An id may begin with a dash. Short options have one letter, so it is none. */
const isDashedId = (word: string): boolean => /^-[\w-]{5,63}$/.test(word) && word[1] !== "-";

const takesValue = (word: string | undefined, options: Options): boolean =>
  word?.startsWith("--") === true && options[word.slice(2)]?.type === "string";

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
  const looksLikeOption =
    inlineValue === false && value?.startsWith("-") && value !== "-" && !isDashedId(value);
  if (value === undefined || value === "" || looksLikeOption) {
    const hint = looksLikeOption ? `If the value begins with a dash: --${name}=VALUE` : undefined;
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
    throw new UsageError(`"${visible(extra)}" is one argument too many.`, hint);
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

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

const DURATION = "A duration is a number and one of ms, s, m, h, d, w: 90s, 24h, 30d.";

/** A duration in milliseconds. */
export function durationOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, number = "", unit = ""] = /^(\d{1,9})(ms|s|m|h|d|w)$/.exec(text) ?? [];
  const ms = Number(number) * (UNITS[unit as keyof typeof UNITS] ?? 0);
  if (ms > 0) return ms;
  throw new UsageError(`--${name} cannot be "${visible(text)}".`, DURATION);
}

/** A point in time in milliseconds: a date, or a duration ago. */
export function timeOf(name: string, text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}[a-z]/.test(text)) return now - (durationOf(name, text) ?? 0);
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return at;
  const hint = "It takes a date (2026-11-16T08:00Z) or a duration ago (24h).";
  throw new UsageError(`--${name} cannot be "${visible(text)}".`, hint);
}

const LONGEST_WORD = 32;

/** The word that was probably meant: the nearest of the words, if it is near enough to be a slip. */
export function nearest(typed: string, words: readonly string[]): string | undefined {
  if (typed.length > LONGEST_WORD) return undefined;
  const ranked = words
    .map((word) => ({ word, distance: distanceOf(typed.toLowerCase(), word) }))
    .filter(
      ({ word, distance }) => distance <= (word.length < 4 ? 1 : Math.max(2, word.length / 3)),
    )
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.word ?? words.find((word) => typed.length > 1 && word.startsWith(typed));
}

/** Levenshtein: letters to add, drop or change. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
