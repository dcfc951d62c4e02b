/**
 * Planned changes as a diff that a person can read: fields for objects, unified lines for long text and
 * lists. Hidden characters are made visible, and the whole is bounded: what is left out is counted.
 *
 * @module
 */

import type { PlannedChange } from "../engine/define/definition.ts";
import { jsonText, visible } from "../key/escape-hidden.ts";
import type { Json } from "../key/json.ts";
import { isJsonObject, type JsonObject } from "../key/json.ts";
import { compareLines, withContext } from "./line-diff.ts";

export interface DiffLine {
  /** `#` heads a change, `@` says what is skipped. */
  readonly sign: "#" | "+" | "-" | " " | "@";
  readonly text: string;
}

export interface Diff {
  readonly lines: readonly DiffLine[];
  /** Lines that do not fit, and lines that were cut. */
  readonly leftOut: number;
}

const MOST_LINES = 400;
const LONGEST_LINE = 200;
/** Of a line that is cut, so much stands before the first difference. */
const LEAD = 40;
/** Text from this length on, or with a new line, is compared line by line. */
const LONG_TEXT = 80;

export function diffOf(changes: readonly PlannedChange[]): Diff {
  const lines: DiffLine[] = [];
  let leftOut = 0;
  const add = (sign: DiffLine["sign"], text: string, isCut = false): void => {
    if (isCut) leftOut += 1;
    if (lines.length < MOST_LINES) lines.push({ sign, text });
    else if (!isCut) leftOut += 1;
  };
  for (const { type, target, before, after } of changes) {
    add("#", `${type} ${visible(target)}`, target.length > 500);
    describe("", before, after, add);
  }
  return { lines, leftOut };
}

/** As one text, for `confirm` and for those who print it themselves. */
export function diffText({ lines, leftOut }: Diff): string {
  const printed = lines.map(({ sign, text }) => (sign === "#" ? text : `${sign} ${text}`));
  if (leftOut > 0) printed.push(`@ ${leftOut} lines are not shown, or not whole`);
  return printed.join("\n");
}

type Add = (sign: DiffLine["sign"], text: string, isCut?: boolean) => void;

function describe(path: string, before: Json | undefined, after: Json | undefined, add: Add): void {
  const [old, young] = [fieldsOf(before), fieldsOf(after)];
  if (old && young && (before ?? after) !== undefined) {
    describeFields(path, old, young, add);
    return;
  }
  const [gone, come] = [linesOf(before), linesOf(after)];
  if (gone && come) {
    describeLines(path, gone, come, add);
    return;
  }
  if (before !== undefined) describeOne("-", path, before, add);
  if (after !== undefined) describeOne("+", path, after, add);
}

/** Nothing has no fields. */
const fieldsOf = (value: Json | undefined): JsonObject | undefined =>
  value === undefined ? {} : isJsonObject(value) ? value : undefined;

function describeFields(path: string, old: JsonObject, young: JsonObject, add: Add): void {
  const names = [...new Set([...Object.keys(old), ...Object.keys(young)])].sort();
  let same = 0;
  for (const name of names) {
    const was = Object.hasOwn(old, name) ? old[name] : undefined;
    const is = Object.hasOwn(young, name) ? young[name] : undefined;
    if (was !== undefined && is !== undefined && JSON.stringify(was) === JSON.stringify(is)) {
      same += 1;
    } else describe(path === "" ? nameOf(name) : `${path}.${nameOf(name)}`, was, is, add);
  }
  if (same > 0) add("@", `  ${path === "" ? "" : `${path}: `}${same} unchanged`);
}

const nameOf = (name: string): string =>
  /^[\w-]{1,80}$/.test(name) ? name : visible(JSON.stringify(name), LEAD);

/** Of long text and of lists; everything else is one value. */
function linesOf(value: Json | undefined): readonly string[] | undefined {
  if (Array.isArray(value)) return value.map((item) => JSON.stringify(item));
  if (typeof value !== "string") return undefined;
  return value.length >= LONG_TEXT || value.includes("\n") ? value.split("\n") : undefined;
}

function describeLines(
  path: string,
  before: readonly string[],
  after: readonly string[],
  add: Add,
): void {
  if (path !== "") add(" ", `  ${path}:`);
  for (const change of withContext(compareLines(before, after))) {
    if (change.sign === "@") add("@", `    ${change.skipped} lines unchanged`);
    else addCut(change.sign, "    ", change.line, add, firstDifference(change));
  }
}

function describeOne(sign: "+" | "-", path: string, value: Json, add: Add): void {
  const lines = linesOf(value);
  const name = path === "" ? "" : `${path}: `;
  if (!lines) {
    addCut(sign, "  ", jsonText(value, 0), add, 0, name);
    return;
  }
  if (path !== "") add(sign, `  ${path}:`);
  for (const line of lines) addCut(sign, "    ", line, add);
}

/** A line that is too long is cut so that its first difference can be seen. */
function addCut(
  sign: "+" | "-" | " ",
  indent: string,
  line: string,
  add: Add,
  differsAt = 0,
  name = "",
): void {
  if (line.length <= LONGEST_LINE) {
    add(sign, `${indent}${name}${shown(line)}`);
    return;
  }
  const from = Math.min(Math.max(0, differsAt - LEAD), line.length - LONGEST_LINE);
  const part = shown(line.slice(from, from + LONGEST_LINE));
  const hidden = line.length - LONGEST_LINE;
  add(sign, `${indent}${name}${from > 0 ? "…" : ""}${part}… (${hidden} characters cut)`, true);
}

/** A space at the end is one more thing that the eye cannot see. */
const shown = (line: string): string => visible(line, LONGEST_LINE).replace(/ $/, "\\u{20}");

function firstDifference({ line, beside = "" }: { line: string; beside?: string | undefined }) {
  let at = 0;
  while (at < line.length && line[at] === beside[at]) at += 1;
  return at === line.length ? 0 : at;
}
