/**
 * `holdfire stats`: what the records of a ledger add up to, and what they cannot tell.
 *
 * @module
 */

import { type Counts, createTally, type Stats } from "../../describe/stats.ts";
import { type Command, defineCommand, EXIT, LEDGER } from "../command.ts";
import { timeOf } from "../parse.ts";
import { columnLines, jsonText, paint, type Terminal, tableLines, visible } from "../terminal.ts";
import { withLedger } from "./open-ledger.ts";
import { eachOperation } from "./operations.ts";

export const stats: Command = defineCommand({
  name: "stats",
  summary: "Sums up the ledger: duplicates suppressed, unknown rate, hidden retries.",
  takes: [],
  about: [
    "Reads all operations of the tenant, without your code. What a ledger cannot tell is listed below the numbers.",
  ],
  options: {
    ...LEDGER,
    since: { type: "string", value: "WHEN", about: "Reached their state since: 24h, or a date." },
    tool: { type: "string", value: "NAME", about: "Only of this tool." },
  },
  run: ({ values }, terminal) => {
    const since = timeOf("since", values.since, terminal.now());
    return withLedger(values, terminal, async (hf) => {
      const query = { since, tool: values.tool };
      const tally = createTally();
      for await (const operation of eachOperation(hf, terminal, query)) tally.add(operation);
      const all = tally.stats();
      if (values.json) terminal.out(jsonText(all));
      else print(all, terminal);
      return EXIT.ok;
    });
  },
});

function print(all: Stats, terminal: Terminal): void {
  const { duplicatesSuppressed: suppressed, hiddenRetries: hidden, answers } = all;
  const { out } = terminal;
  const counted = (counts: Counts, before = "") =>
    Object.entries(counts).map(([name, n]) => [`${n}`, `  ${before}${name}`]);
  const rows = [
    [`${all.operations}`, "operations"],
    ...counted(all.byStatus),
    [`${(all.unknownRate * 100).toFixed(1)} %`, "unknown, of those that were fired"],
    ...counted(all.unknownReasons),
    [`${all.fired}`, "times fired"],
    ...counted(all.firedAgain, "again under "),
    [`≥ ${suppressed.callsMetAgain}`, "duplicates suppressed: calls for a known operation"],
    [`${suppressed.foundByReading}`, "lost replies found by a read, not sent again"],
    [`${suppressed.recognisedByService}`, "sends that the service recognised by our key"],
    [`${all.lateReplies}`, "late replies filed"],
    [`${hidden.attempts}`, `attempts with more than one request (${hidden.extraRequests} extra)`],
    [`${answers.yes}`, "times a person approved"],
    [`${answers.no}`, "times a person denied"],
  ];
  for (const line of columnLines(rows, ["right"])) out(line);
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
