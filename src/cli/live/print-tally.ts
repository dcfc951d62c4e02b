/**
 * Prints what a program sent, to stderr: stdout is the program's own.
 *
 * @module
 */

import { visible } from "../printable.ts";
import { tableLines } from "../table.ts";
import { paint, type Terminal } from "../terminal.ts";
import type { Tally } from "./tally.ts";

const MOST_ROWS = 50;

export function printTally(tally: Tally, terminal: Terminal): void {
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
    say("Inside holdfire, by operation. again: sent again within one attempt.");
    const rows = operations
      .slice(0, MOST_ROWS)
      .map(({ operation, attempts, requests, again: hidden, first }) => [
        visible(operation.slice(0, 12)),
        ...[String(attempts), String(requests), again(hidden), visible(first)],
      ]);
    const titles = [{ title: "operation" }, number("attempts"), number("requests")];
    print([...titles, number("again"), { title: "first request" }], rows);
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
  if (cut) say("More was sent than could be written down.");

  function print(columns: Parameters<typeof tableLines>[0], rows: string[][]) {
    for (const line of tableLines(columns, rows)) say(line);
  }
  function more(count: number) {
    if (count > MOST_ROWS) say(`… and ${count - MOST_ROWS} more; --json has them all.`);
  }
}
