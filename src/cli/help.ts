/**
 * What `--help` prints: the list of commands, or one command.
 *
 * @module
 */

import type { Command, Options } from "./command.ts";
import { columnLines, paint, type Terminal } from "./terminal.ts";

const EXITS =
  "Exit codes: 0 success, 1 it found something or could not do it, 2 wrong usage, 3 no ledger.";

export function printHelp(commands: readonly Command[], terminal: Terminal): void {
  const bold = (text: string) => paint(terminal, "bold", text);
  const { out } = terminal;
  out(`${bold("holdfire")} COMMAND [OPTIONS]`);
  out("");
  for (const line of indented(commands.map(({ name, summary }) => [name, summary]))) out(line);
  out("");
  out("holdfire COMMAND --help explains one; --version prints the version.");
  out("--json prints JSON. --store URL names the ledger: a SQLite path, redis://… or postgres://…");
  out(EXITS);
}

/** The help of a command as data. */
export const helpOf = ({ name, summary, takes, rest, about, options }: Command): object => ({
  ...{ name, summary, takes, rest, about, options },
});

export function printHelpOf(command: Command, terminal: Terminal): void {
  const { name, summary, takes, rest, about, options } = command;
  const { out } = terminal;
  const usage = ["holdfire", name, ...takes, "[OPTIONS]", ...(rest ? [`[-- ${rest}]`] : [])];
  out(paint(terminal, "bold", usage.join(" ")));
  out("");
  out(summary);
  for (const paragraph of about) {
    out("");
    for (const line of wrapped(paragraph, 78)) out(line);
  }
  out("");
  for (const line of indented(rowsOf(options))) out(line);
  out("");
  out(EXITS);
}

const rowsOf = (options: Options): string[][] =>
  Object.entries(options).map(([name, { short, value, about }]) => [
    `${short ? `-${short}, ` : ""}--${name}${value ? ` ${value}` : ""}`,
    about,
  ]);

const indented = (rows: readonly (readonly string[])[]): readonly string[] =>
  columnLines(rows).map((line) => `  ${line}`);

function wrapped(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}
