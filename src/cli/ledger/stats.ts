/**
 * `holdfire stats`: what the records of a ledger add up to, and what they cannot tell.
 *
 * @module
 */

import type { OperationView } from "../../engine/admin/operations.ts";
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
      const all = await statsOf(eachOperation(hf, terminal, query));
      if (values.json) terminal.out(jsonText(all));
      else print(all, terminal);
      return EXIT.ok;
    });
  },
});

/** Printed with every result, so that a lower bound is not taken for a count. */
const CANNOT_TELL: readonly string[] = [
  'replays without a new tool-call id: an answer from the record is not recorded; listen to the event "outcome" with replayed: true',
  'requests that a guarded fetch refused before they were sent; listen to the event "warning" with code "hidden_retry"',
  "whether several requests of one attempt were a retry or several steps of the tool",
  "attempts of operations that were fired more often than the record keeps, or that were pruned",
];

type Counts = Record<string, number>;

const count = (counts: Counts, name: string): void => {
  counts[name] = (counts[name] ?? 0) + 1;
};

interface ToolStats {
  operations: number;
  fired: number;
  unknown: number;
}

/** Pure, but for the reading of the operations. */
async function statsOf(operations: AsyncIterable<OperationView>) {
  const byTool = new Map<string, ToolStats>();
  const all = {
    operations: 0,
    byStatus: {} as Counts,
    unknownReasons: {} as Counts,
    /** How often a tool was fired in all. */
    fired: 0,
    /** Of the attempts still on record, those after the first, by what allowed them. */
    firedAgain: {} as Counts,
    duplicatesSuppressed: {
      /** Calls with another tool-call id for an operation that already existed: at least this many. */
      callsMetAgain: 0,
      /** Lost replies that a read found, instead of a second send. */
      foundByReading: 0,
      /** Sends that the service recognised by our key. */
      recognisedByService: 0,
    },
    /** Replies that came after their attempt was given up. */
    lateReplies: 0,
    /** Attempts that sent more than one request, and their requests beyond the first. */
    hiddenRetries: { attempts: 0, extraRequests: 0 },
    answers: { yes: 0, no: 0 },
  };
  let everFired = 0;
  let unknown = 0;
  for await (const operation of operations) {
    const { status, tool, attempts, aliases, evidence, via, fired } = operation;
    const of = byTool.get(tool) ?? { operations: 0, fired: 0, unknown: 0 };
    byTool.set(tool, of);
    all.operations += 1;
    of.operations += 1;
    all.fired += fired;
    of.fired += fired;
    if (fired > 0) everFired += 1;
    if (status === "unknown") {
      unknown += 1;
      of.unknown += 1;
      count(all.unknownReasons, operation.reason ?? "?");
    }
    count(all.byStatus, status);
    all.duplicatesSuppressed.callsMetAgain += Math.max(0, aliases.length - 1);
    if (via === "read") all.duplicatesSuppressed.foundByReading += 1;
    all.lateReplies += evidence.length;
    for (const { licence, replayed, wireRequests = 0 } of attempts) {
      if (licence !== "first") count(all.firedAgain, licence);
      if (replayed) all.duplicatesSuppressed.recognisedByService += 1;
      if (wireRequests > 1) {
        all.hiddenRetries.attempts += 1;
        all.hiddenRetries.extraRequests += wireRequests - 1;
      }
    }
    for (const { approve } of operation.answers) all.answers[approve ? "yes" : "no"] += 1;
  }
  /** Of those that were fired, the share that is unknown now; 0 if none was. */
  const unknownRate = everFired === 0 ? 0 : unknown / everFired;
  return { ...all, unknownRate, byTool: Object.fromEntries(byTool), cannotTell: CANNOT_TELL };
}

function print(all: Awaited<ReturnType<typeof statsOf>>, terminal: Terminal): void {
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
