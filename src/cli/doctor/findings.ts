/**
 * What the dependencies of a project mean: who retries, who is covered, and what it multiplies to; and how that is
 * printed: a table, the worst case, and what to do.
 *
 * @module
 */

import type { KnownClient } from "../../integrations/shared/retries/retry-catalogue.ts";
import { paint, type Terminal, tableLines, visible } from "../terminal.ts";
import type { Dependency } from "./project.ts";
import type { ConfigFindings, ToolFinding } from "./tools.ts";

export interface Finding {
  readonly client: KnownClient;
  /** The packages of this client that the project has. */
  readonly packages: readonly Dependency[];
  readonly direct: boolean;
  /**
   * `seen`: the source names its `ownRetries`. `not_seen`: there is one, and no file names it.
   * `none`: there is none; it retries only where the program asks it to.
   */
  readonly owned: "seen" | "not_seen" | "none";
}

/** `@aws-sdk/client-*` stands for all that begin so. */
export function matches(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;
}

/** A loop that is only a transitive dependency says nothing of this program. */
export function findingsOf(
  known: readonly KnownClient[],
  dependencies: readonly Dependency[],
  seen: ReadonlySet<string>,
): readonly Finding[] {
  return known.flatMap((client) => {
    const packages = dependencies.filter(({ name, direct }) => {
      const isOne = client.packages.some((pattern) => matches(pattern, name));
      return isOne && (direct || client.when === "always");
    });
    if (packages.length === 0) return [];
    packages.sort((a, b) => Number(b.direct) - Number(a.direct));
    const direct = packages.some((dependency) => dependency.direct);
    const { subpath } = client;
    const owned = subpath === undefined ? "none" : seen.has(subpath) ? "seen" : "not_seen";
    return [{ client, packages, direct, owned } as const];
  });
}

/**
 * What retries by itself, is a direct dependency, and has no owner: what `--strict` is about. A
 * transitive dependency is the business of the package that depends on it.
 */
export const uncovered = (findings: readonly Finding[]): readonly Finding[] =>
  findings.filter(
    ({ client, direct, owned }) => client.when === "always" && direct && owned !== "seen",
  );

export interface WorstCase {
  /** From the outermost to the innermost. */
  readonly layers: readonly { readonly name: string; readonly requests: number }[];
  readonly requests: number;
  /** Some of them retry only where the program asks them to. */
  readonly asked: readonly string[];
}

/**
 * Loops nest in each other, and the one that sends stands inside them all: of those that send, only the
 * worst counts, for one call goes through one of them.
 */
export function worstCaseOf(findings: readonly Finding[]): WorstCase | undefined {
  const open = findings
    .filter(({ owned, direct }) => owned !== "seen" && direct)
    .map(({ client }) => client);
  const loops = open.filter(({ layer }) => layer === "loop");
  const senders = open.filter(({ layer }) => layer === "sender");
  const inner = senders.toSorted((a, b) => b.requests - a.requests)[0];
  const layers = inner ? [...loops, inner] : loops;
  if (layers.length === 0) return undefined;
  return {
    layers: layers.map(({ name, requests }) => ({ name, requests })),
    requests: layers.reduce((product, { requests }) => product * requests, 1),
    asked: layers.filter(({ when }) => when === "asked").map(({ name }) => name),
  };
}

export interface Report extends Partial<ConfigFindings> {
  readonly folder: string;
  readonly findings: readonly Finding[];
  readonly worstCase: WorstCase | undefined;
  /** How many source files were searched for `ownRetries`. */
  readonly files: number;
  readonly cut: boolean;
}

export function printReport(report: Report, terminal: Terminal): void {
  const { findings, worstCase, app, tools, guarded } = report;
  if (findings.length === 0) {
    terminal.out("Nothing that is known to retry by itself was found.");
  } else {
    printTable(findings, terminal);
    printNotes(findings, terminal);
  }
  if (worstCase) printWorstCase(worstCase, terminal);
  printAdvice(report, terminal);
  if (app === null) {
    terminal.out("");
    terminal.out(
      'No app: another program with the same account at a service may mint the same keys. Name yours: createHoldfire({ app: "…" }).',
    );
  }
  if (guarded) printGuarded(guarded, terminal);
  if (tools) printTools(tools, terminal);
}

function printGuarded(guarded: ConfigFindings["guarded"], { out }: Terminal): void {
  const { read, write, destructive } = guarded;
  const all = read + write + destructive;
  const kinds = `${read} read, ${write} write, ${destructive} destructive`;
  out("");
  out(
    all > 0
      ? `Guarded tools: ${all} (${kinds}).`
      : "Guarded tools: 0. Make them with hf.tool or guardTools where the config can import them.",
  );
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
  if (tools.length === 0) return;
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
    out("Each that writes is keyed or readable; no deltas found.");
  }
}
