/**
 * A question as the person is shown it: tool, scope, arguments, side effects, diff, and what else of its scope is unknown.
 * Everything in it may come from a model, so nothing is printed as it came.
 *
 * @module
 */

import {
  changesOf,
  driftLines,
  intentText,
  MOST_NAMED,
  WHY_ASKED,
} from "../../describe/decision-facts.ts";
import type { OperationView } from "../../engine/admin/operations.ts";
import type { Approval } from "../../gate/approvals.ts";
import { type DiffLine, diffOf } from "../../gate/diff.ts";
import { isJsonObject, type JsonObject } from "../../key/json.ts";
import {
  columnLines,
  jsonText,
  paint,
  paintStatus,
  type Style,
  showDuration,
  showTime,
  type Terminal,
  visible,
} from "../terminal.ts";

const LONGEST_LINE = 200;
const MOST_LINES = 60;
/** Of an earlier call. */
const LONGEST_INTENT = 2_000;

const STYLES: Readonly<Partial<Record<DiffLine["sign"], Style>>> = {
  "#": "bold",
  "+": "green",
  "-": "red",
  "@": "cyan",
};

/** `others`: operations of the same scope that are unknown. */
export function questionLines(
  question: Approval,
  terminal: Terminal,
  others: readonly OperationView[] = [],
): readonly string[] {
  const { operation, why, digest, expiresAt, answered, shown } = question;
  const bold = (text: string) => paint(terminal, "bold", text);
  const left = expiresAt - terminal.now();
  const head = [
    `${bold(visible(operation.tool))} in ${visible(operation.scope)}`,
    `needs approval because ${WHY_ASKED[why]}; ${left > 0 ? `expires in ${showDuration(left)}` : "expired"} (${showTime(expiresAt)})`,
    `key ${operation.key}`,
    `digest ${digest}`,
  ];
  const intent = intentText(operation);
  const isInArguments =
    isJsonObject(shown ?? null) && intent === argumentsText(shown as JsonObject);
  if (intent !== undefined && !operation.sealed && !isInArguments) head.push(`intent ${intent}`);
  return [
    ...head,
    ...(answered
      ? ["It is approved, and fires when its call is made again."]
      : isJsonObject(shown ?? null)
        ? bodyLines(shown as JsonObject, terminal)
        : ["Its arguments are encrypted with a key that this command does not have."]),
    ...othersLines(others, terminal),
  ];
}

/** As `intentText` writes it. */
const argumentsText = ({ args = null }: JsonObject): string | undefined =>
  intentText({ intent: args });

function bodyLines(shown: JsonObject, terminal: Terminal): readonly string[] {
  const alsoDoes = Array.isArray(shown.alsoDoes) ? shown.alsoDoes : [];
  const changes = changesOf(shown.plan);
  const diff = changes && diffOf(changes);
  const lines = ["arguments:", ...cut(jsonText(shown.args ?? null).split("\n")).map(indent)];
  for (const one of alsoDoes) lines.push(`also: ${visible(String(one))}`);
  if (isJsonObject(shown.definition ?? null)) {
    lines.push(`its server says ${visible(jsonText(shown.definition, 0))}`);
  }
  lines.push(...driftLines(shown.drift, LONGEST_INTENT));
  if (!diff) return [...lines, "The tool has no plan, so it is not known what it would change."];
  if (diff.lines.length === 0) return [...lines, "According to its plan it would change nothing."];
  lines.push("plan:");
  for (const { sign, text } of diff.lines) {
    const line = sign === "#" ? text : `${sign} ${text}`;
    const style = STYLES[sign];
    lines.push(`  ${style ? paint(terminal, style, line) : line}`);
  }
  if (diff.leftOut > 0) lines.push(paint(terminal, "yellow", notAll(diff.leftOut)));
  return lines;
}

const notAll = (lines: number): string =>
  `NOT ALL OF IT: ${lines} lines are left out or cut. npx holdfire show KEY --json prints all.`;

function cut(lines: readonly string[]): readonly string[] {
  const isLong = (line: string) => line.length > LONGEST_LINE;
  const shown = lines
    .slice(0, MOST_LINES)
    .map((line) => (isLong(line) ? `${line.slice(0, LONGEST_LINE)}… (cut)` : line));
  const left = lines.length - shown.length + lines.slice(0, MOST_LINES).filter(isLong).length;
  return left > 0 ? [...shown, notAll(left)] : shown;
}

const indent = (line: string): string => `  ${line}`;

export function othersLines(
  others: readonly OperationView[],
  terminal: Terminal,
): readonly string[] {
  if (others.length === 0) return [];
  const rows = others
    .slice(0, MOST_NAMED)
    .map((one) => [
      `  ${one.key}`,
      visible(one.tool, 40),
      paintStatus(one, terminal),
      intentText(one) ?? "",
    ]);
  const more = others.length > MOST_NAMED ? ["  … and more: npx holdfire ls --status unknown"] : [];
  return ["Also unknown in this scope:", ...columnLines(rows), ...more];
}
