/**
 * Runs the user's program with the wire counter preloaded, and prints what it sent.
 *
 * @module
 */

import { randomBytes } from "node:crypto";
import { linesOf } from "../../../chaos/log.ts";
import { EXIT } from "../../command.ts";
import { ownModule } from "../../own-files.ts";
import { runWatched } from "../../run-program.ts";
import { jsonText, onStderr, paint, type Terminal, tableLines, visible } from "../../terminal.ts";
import { FOLDER, type Line, SALT, type Tally, tallyOf } from "./tally.ts";

/** Ends as the program did; with `strict`, a program that did well ends with 1 if it retried. */
export async function runLive(
  program: readonly string[],
  { json, strict }: { readonly json: boolean; readonly strict: boolean },
  cwd: string,
  terminal: Terminal,
): Promise<number> {
  const salt = randomBytes(16).toString("base64url");
  const { exitCode, logs } = await runWatched((folder) => ({
    command: program,
    cwd,
    preload: ownModule("cli/doctor/live/preload"),
    env: { ...terminal.env, [FOLDER]: folder, [SALT]: salt },
    // With --json, stdout is for the JSON alone.
    output: [json ? process.stderr : "inherit", "inherit"],
  }));
  const tally = tallyOf(logs.map((log) => linesOf<Line>(log)));
  if (json) terminal.out(jsonText({ exitCode, ...tally }));
  else printTally(tally, onStderr(terminal));
  return exitCode === EXIT.ok && strict && hasRetried(tally) ? EXIT.found : exitCode;
}

const hasRetried = ({ operations, outside }: Tally): boolean =>
  [...operations, ...outside].some(({ again }) => again > 0);

const MOST_ROWS = 50;
/** Ids have 36 or 43 characters, and are known by their beginning; else it is the name of a tool. */
const SHORTEST_ID = 36;
const SHORT = 12;

const shortName = (operation: string): string =>
  visible(operation.length < SHORTEST_ID ? operation : operation.slice(0, SHORT));

function printTally(tally: Tally, terminal: Terminal): void {
  const { operations, outside, cut } = tally;
  const say = (line: string) => terminal.err(line);
  const number = (title: string) => ({ title, align: "right" }) as const;
  const again = (count: number) => (count > 0 ? paint(terminal, "red", String(count)) : "0");
  say("");
  if (operations.length === 0 && outside.length === 0) {
    say("holdfire doctor: no request was seen. Only programs that run on Node are watched.");
    return;
  }
  if (operations.length > 0) {
    say(
      "Inside holdfire, by operation. reads: holdfire looked. again: sent again within one attempt.",
    );
    const rows = operations
      .slice(0, MOST_ROWS)
      .map(({ operation, attempts, requests, reads, again: hidden, first }) => [
        shortName(operation),
        ...[String(attempts), String(requests), String(reads), again(hidden), visible(first)],
      ]);
    const titles = [{ title: "operation" }, number("attempts"), number("requests")];
    print([...titles, number("reads"), number("again"), { title: "first request" }], rows);
    more(operations.length);
  }
  if (outside.length > 0) {
    if (operations.length > 0) say("");
    say("Outside holdfire, by address. again: sent after the same method and address had failed.");
    const rows = outside
      .slice(0, MOST_ROWS)
      .map(({ method, origin, path, requests, failed, again: repeated }) => [
        ...[String(requests), String(failed), again(repeated)],
        visible(`${method} ${origin}${path}`),
      ]);
    const titles = [number("requests"), number("failed"), number("again")];
    print([...titles, { title: "request" }], rows);
    more(outside.length);
  }
  if (cut) say("More was sent than could be logged.");

  function print(columns: Parameters<typeof tableLines>[0], rows: string[][]) {
    for (const line of tableLines(columns, rows)) say(line);
  }
  function more(count: number) {
    if (count > MOST_ROWS) say(`… and ${count - MOST_ROWS} more; --json prints all.`);
  }
}
