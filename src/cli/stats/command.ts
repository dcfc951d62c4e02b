/**
 * `holdfire stats`: what a ledger can tell of itself, and what it cannot.
 *
 * @module
 */

import { type Command, defineCommand, LEDGER } from "../command.ts";
import { eachOperation } from "../each-operation.ts";
import { EXIT } from "../exit.ts";
import { withLedger } from "../open-holdfire.ts";
import { jsonText, visible } from "../printable.ts";
import { tableLines } from "../table.ts";
import { paint, type Terminal } from "../terminal.ts";
import { timeOf } from "../time.ts";
import { createStatsTally, type Stats } from "./tally.ts";

export const stats: Command = defineCommand({
  name: "stats",
  summary: "Adds up the ledger: duplicates suppressed, unknown rate, hidden retries.",
  takes: [],
  about: [
    "Reads all operations of the tenant, without your code. Some things leave no trace in a ledger; those are named below the numbers.",
  ],
  options: {
    ...LEDGER,
    since: { type: "string", value: "WHEN", about: "Reached their state since: 24h, or a date." },
    tool: { type: "string", value: "NAME", about: "Only of this tool." },
  },
  run: ({ values }, terminal) => {
    const since = timeOf("since", values.since, terminal.now());
    return withLedger(values, terminal, async (hf) => {
      const tally = createStatsTally();
      const query = { since, tool: values.tool };
      for await (const operation of eachOperation(hf, terminal, query)) tally.add(operation);
      if (values.json) terminal.out(jsonText(tally.stats()));
      else print(tally.stats(), terminal);
      return EXIT.ok;
    });
  },
});

const NUMBERS = [{ title: "", align: "right" }, { title: "" }] as const;

function print(all: Stats, terminal: Terminal): void {
  const { duplicatesSuppressed: suppressed, hiddenRetries: hidden, answers } = all;
  const { out } = terminal;
  const rows: [number | string, string][] = [
    [all.operations, "operations"],
    ...Object.entries(all.byStatus).map(([status, n]): [number, string] => [n, `  ${status}`]),
    [`${(all.unknownRate * 100).toFixed(1)} %`, "unknown, of those that were fired"],
    ...Object.entries(all.unknownReasons).map(([why, n]): [number, string] => [n, `  ${why}`]),
    [all.fired, "times fired"],
    ...Object.entries(all.firedAgain).map(([by, n]): [number, string] => [
      n,
      `  again under ${by}`,
    ]),
    [`≥ ${suppressed.callsMetAgain}`, "duplicates suppressed: calls that met an operation again"],
    [suppressed.foundByReading, "lost replies found by a reading, not sent again"],
    [suppressed.recognisedByService, "sends that the service recognised by our key"],
    [all.lateReplies, "late replies filed"],
    [hidden.attempts, `attempts with more than one request (${hidden.extraRequests} extra)`],
    [answers.yes, "times a person said yes"],
    [answers.no, "times a person said no"],
  ];
  for (const line of lines(rows)) out(line);
  const tools = Object.entries(all.byTool).map(([tool, of]) => [
    visible(tool, 60),
    ...[of.operations, of.fired, of.unknown].map(String),
  ]);
  if (tools.length > 0) {
    const right = (title: string) => ({ title, align: "right" }) as const;
    const columns = [{ title: "tool" }, right("operations"), right("fired"), right("unknown")];
    out("");
    for (const line of tableLines(columns, tools)) out(line);
  }
  out("");
  out(paint(terminal, "bold", "What a ledger cannot tell:"));
  for (const what of all.cannotTell) out(`- ${what}`);
}

const lines = (rows: readonly (readonly [number | string, string])[]): readonly string[] =>
  tableLines(
    NUMBERS,
    rows.map(([number, what]) => [String(number), what]),
  ).slice(1);
