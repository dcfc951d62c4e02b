/**
 * Prints what the doctor found: a table, the worst case, and what to do.
 *
 * @module
 */

import { paint, type Terminal, tableLines, visible } from "../terminal.ts";
import { type Finding, uncovered, type WorstCase } from "./findings.ts";
import type { ToolFinding } from "./tools.ts";

export interface Report {
  readonly folder: string;
  readonly findings: readonly Finding[];
  readonly worstCase: WorstCase | undefined;
  /** How many source files were searched for `ownRetries`. */
  readonly files: number;
  readonly cut: boolean;
  /** Only with a config. */
  readonly tools: readonly ToolFinding[] | undefined;
}

export function printReport(report: Report, terminal: Terminal): void {
  const { findings, worstCase, tools } = report;
  if (findings.length === 0) {
    terminal.out("Nothing that is known to retry by itself was found.");
  } else {
    printTable(findings, terminal);
    printNotes(findings, terminal);
  }
  if (worstCase) printWorstCase(worstCase, terminal);
  printAdvice(report, terminal);
  if (tools) printTools(tools, terminal);
}

const yes = (is: boolean): string => (is ? "yes" : "no");

function printTable(findings: readonly Finding[], terminal: Terminal): void {
  const lines = tableLines(
    [
      { title: "package" },
      { title: "version" },
      { title: "requests", align: "right" },
      { title: "on timeout" },
      { title: "on POST" },
      { title: "ownRetries from" },
      { title: "in your source" },
    ],
    findings.map(({ client, packages, direct, owned }) => [
      namesOf(packages.map(({ name }) => name)) + (direct ? "" : " *"),
      visible(packages[0]?.versions.join(", ") ?? "", 40),
      `${client.requests}${client.when === "asked" ? " if asked" : ""}`,
      yes(client.timeouts),
      yes(client.posts),
      client.subpath ?? "none",
      said(owned, terminal),
    ]),
  );
  for (const [index, line] of lines.entries()) {
    terminal.out(index === 0 ? paint(terminal, "bold", line) : line);
  }
}

function namesOf([first = "", ...others]: readonly string[]): string {
  return others.length === 0 ? visible(first) : `${visible(first)} +${others.length}`;
}

function said(owned: Finding["owned"], terminal: Terminal): string {
  if (owned === "none") return "";
  return owned === "seen"
    ? paint(terminal, "green", "seen")
    : paint(terminal, "yellow", "not seen");
}

function printNotes(findings: readonly Finding[], { out }: Terminal): void {
  out("");
  out("requests: the most that one failing call sends, by itself or if your program asks it to.");
  if (findings.some(({ direct }) => !direct)) out("* a transitive dependency.");
  for (const { client, packages } of findings) {
    const versions = packages.find(({ name }) => name === client.name)?.versions ?? [];
    const isKnown = versions.some((version) => majorOf(version) === majorOf(client.version));
    const isOther = versions.length > 0 && !isKnown;
    const counted = isOther ? ` Counted in ${client.version}; yours may differ.` : "";
    if (client.note || counted) out(`${client.name}: ${client.note ?? ""}${counted}`);
  }
}

const majorOf = (version: string): string | undefined => /\d+/.exec(version)?.[0];

function printWorstCase({ layers, requests, asked }: WorstCase, terminal: Terminal): void {
  const sum = layers.map((layer) => layer.requests).join(" × ");
  const names = layers.map(({ name }) => name).join(", ");
  terminal.out("");
  terminal.out(
    `Worst case for one call, if all nest: ${paint(terminal, "bold", `${sum} = ${requests}`)} requests (${names}).`,
  );
  if (asked.length > 0) terminal.out(`Only where your program asks it to: ${asked.join(", ")}.`);
}

function printAdvice({ findings, files, cut, folder }: Report, { out }: Terminal): void {
  const open = uncovered(findings);
  if (open.length === 0) return;
  out("");
  for (const { client } of open) {
    if (client.subpath) out(`import { ownRetries } from "${client.subpath}"; // ${client.name}`);
  }
  const looked = cut ? `the first ${files} source files` : `${files} source files`;
  out(`"not seen" is a hint: no file names it, of ${looked} in ${visible(folder)}.`);
}

function printTools(tools: readonly ToolFinding[], terminal: Terminal): void {
  const { out } = terminal;
  out("");
  const blind = tools.filter((tool) => tool.blind);
  const deltas = tools.filter((tool) => tool.deltas && tool.deltas.length > 0);
  const unread = tools.filter((tool) => tool.deltas === undefined);
  const bad = (name: string) => paint(terminal, "yellow", visible(name));
  for (const { tool } of blind) {
    out(
      `${bad(tool)}: neither keyed nor readable. A lost reply stays unknown until a person checks.`,
    );
  }
  for (const { tool, deltas: names } of deltas) {
    const which = (names ?? []).map((name) => visible(name)).join(", ");
    out(`${bad(tool)}: ${which} looks like a delta. Sent twice, it is applied twice.`);
  }
  if (unread.length > 0) {
    const names = unread.map(({ tool }) => visible(tool)).join(", ");
    out(`Not checked for deltas, because the schema does not list its properties: ${names}.`);
  }
  if (blind.length === 0 && deltas.length === 0) {
    out(`${tools.length} tools that write: each is keyed or readable; no deltas found.`);
  }
}
