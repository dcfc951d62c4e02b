/**
 * Finds how the texts of the errors in the sources end: the last literal of each value a message can have.
 *
 * No parser of TypeScript is needed for that: strings, templates and brackets are enough to split the
 * arguments of `new SomeError(…)`.
 *
 * @module
 */

import { globSync, readFileSync } from "node:fs";

export interface ErrorText {
  /** `src/errors.ts:12` */
  readonly at: string;
  readonly error: string;
  /** How the message ends, in the source. `undefined`: it comes from elsewhere, e.g. `error.message`. */
  readonly text: string | undefined;
  readonly expression: string;
}

/** Which argument is the message; errors that are not here get it as their first one. */
const MESSAGE_AT: Readonly<Record<string, number>> = {
  InvalidInputError: 1,
  OutcomeUnknownError: 2,
};

/** What these are given is a fact (a step, a tool, a request); their own constructor makes the text. */
const OWN_TEXT = new Set([
  "CommandError",
  "McpNotSentError",
  "McpToolError",
  "McpTurnedAwayError",
  "ApprovalRequiredError",
  "ClosedError",
  "DeniedError",
  "HiddenRetryError",
  "KeyConflictError",
  "LaneBlockedError",
  "LeaseLostError",
  "MissingScopeError",
  "NotAppliedError",
  "OperationInProgressError",
  "ResultLostError",
  "StoreUnavailableError",
  "VolatileIntentError",
]);

/** What `holdfire init` writes into a project is not thrown by holdfire. */
const SOURCES = globSync("src/**/*.ts")
  .filter((file) => !file.startsWith("src/cli/init/templates/"))
  .sort();

export const errorTexts = (): readonly ErrorText[] =>
  SOURCES.flatMap((file) => textsIn(file, readFileSync(file, "utf8")));

export function textsIn(file: string, source: string): readonly ErrorText[] {
  const code = withoutComments(source);
  return [...code.matchAll(/\bnew (\w*Error)\(|\b(super)\(/g)].flatMap((found) => {
    const error = found[1] ?? "super";
    if (OWN_TEXT.has(error)) return [];
    const message = argumentsFrom(code, found.index + found[0].length)[MESSAGE_AT[error] ?? 0];
    const expression = message?.trim() ?? "";
    if (expression === "") return [];
    const at = `${file}:${code.slice(0, found.index).split("\n").length}`;
    return endingsOf(expression, { code, upTo: found.index }).map((end) => ({ at, error, ...end }));
  });
}

interface Place {
  readonly code: string;
  readonly upTo: number;
}
type Ending = Pick<ErrorText, "text" | "expression">;

function endingsOf(expression: string, place: Place, depth = 0): readonly Ending[] {
  const ways = waysOf(expression);
  if (ways.length > 1) return ways.flatMap((way) => endingsOf(way, place, depth));
  const last = (splitAt(expression, "+").at(-1) ?? "").trim();
  const literal = /^(["'`])([\s\S]*)\1$/.exec(last)?.[2];
  if (literal === undefined) {
    const known = depth < 4 ? valuesOf(last, place) : [];
    const ends = known.flatMap((value) => endingsOf(value.expression, value, depth + 1));
    return ends.length > 0 ? ends : [{ text: undefined, expression: last }];
  }
  // A template that ends with a name ends as that does, if that is known.
  const inner = /\$\{([\w.?]+)\}$/.exec(literal)?.[1];
  const ends = inner === undefined ? [] : endingsOf(inner, place, depth + 1);
  const isKnown = ends.length > 0 && ends.every(({ text }) => text !== undefined);
  return isKnown ? ends : [{ text: literal, expression: last }];
}

/** What a name stands for: its `const`, the entries of a table, or what a function of this file is given. */
function valuesOf(name: string, { code, upTo }: Place): readonly (Place & Ending)[] {
  const [, table] = /^([A-Z_]+)\[\w+\]$/.exec(name) ?? [];
  if (!/^\w+$/.test(table ?? name)) return [];
  const declared = [
    ...code.matchAll(new RegExp(`\\bconst ${table ?? name}(?:: [^=]+)? =\\s`, "g")),
  ].findLast(({ index }) => index < upTo || /^[A-Z_]+$/.test(table ?? name));
  if (declared) {
    const value = statementFrom(code, declared.index + declared[0].length).trim();
    const inTable = table ? splitAt(value.slice(1, -1), ",").filter((one) => one.trim()) : [value];
    return inTable.map((one) => ({
      text: undefined,
      expression: (table ? (splitAt(one, ":")[1] ?? "") : one).trim(),
      code,
      upTo: declared.index,
    }));
  }
  const taker = [...code.matchAll(/\bfunction (\w+)\(([^)]*)\)/g)].findLast(
    ({ index }) => index < upTo,
  );
  const position = splitAt(taker?.[2] ?? "", ",").findIndex((one) =>
    one.trim().startsWith(`${name}:`),
  );
  if (!taker || position < 0) return [];
  return [...code.matchAll(new RegExp(`(?<!function )\\b${taker[1]}\\(`, "g"))].flatMap((call) => {
    const given = argumentsFrom(code, call.index + call[0].length)[position]?.trim();
    return given ? [{ text: undefined, expression: given, code, upTo: call.index }] : [];
  });
}

/** The branches of a conditional, or of `??` and `||`. */
function waysOf(expression: string): readonly string[] {
  const [, ...branches] = splitAt(expression, "?");
  const condition = branches.join("?");
  const [yes, ...no] = splitAt(condition, ":");
  if (branches.length > 0 && no.length > 0)
    return [yes ?? "", no.join(":")].map((way) => way.trim());
  const either = splitAt(expression, "??");
  return either.length > 1 ? either.map((way) => way.trim()) : [expression];
}

const withoutComments = (source: string): string =>
  source
    .replaceAll(/^[ \t]*\/\*[\s\S]*?\*\//gm, (comment) => comment.replaceAll(/[^\n]/g, " "))
    .replaceAll(/(^|\s)\/\/.*$/gm, "$1");

/** The arguments of a call, from right behind its opening bracket. */
function argumentsFrom(code: string, open: number): string[] {
  const end = endOf(code, open, (character, depth) => depth < 0 && character === ")");
  return splitAt(code.slice(open, end), ",");
}

const statementFrom = (code: string, start: number): string =>
  code.slice(
    start,
    endOf(code, start, (character, depth) => depth === 0 && character === ";"),
  );

/** Splits where the mark stands outside of brackets and texts. `?` is not the one of `?.` and `??`. */
function splitAt(text: string, mark: string): string[] {
  const parts: string[] = [];
  let from = 0;
  walk(text, 0, (at, depth) => {
    if (depth !== 0 || !text.startsWith(mark, at) || at < from) return false;
    if (mark === "?" && /[?.]/.test(`${text.charAt(at - 1)}${text.charAt(at + 1)}`)) return false;
    parts.push(text.slice(from, at));
    from = at + mark.length;
    return false;
  });
  return [...parts, text.slice(from)];
}

function endOf(code: string, start: number, ends: (character: string, depth: number) => boolean) {
  let end = code.length;
  walk(code, start, (at, depth) => {
    const found = ends(code.charAt(at), depth);
    if (found) end = at;
    return found;
  });
  return end;
}

/** Visits every character outside of texts, with the depth of brackets there, until `visit` says so. */
function walk(code: string, start: number, visit: (at: number, depth: number) => boolean): void {
  let depth = 0;
  for (let at = start; at < code.length; at += 1) {
    const character = code.charAt(at);
    if (/["'`]/.test(character)) {
      at = closingQuote(code, at);
      continue;
    }
    if (/[)\]}]/.test(character)) depth -= 1;
    if (visit(at, depth)) return;
    if (/[([{]/.test(character)) depth += 1;
  }
}

function closingQuote(code: string, from: number): number {
  const quote = code.charAt(from);
  for (let at = from + 1; at < code.length; at += 1) {
    if (code.charAt(at) === "\\") at += 1;
    else if (code.charAt(at) === quote) return at;
    else if (quote === "`" && code.startsWith("${", at)) {
      at = endOf(code, at + 2, (character, depth) => depth < 0 && character === "}");
    }
  }
  return code.length;
}
