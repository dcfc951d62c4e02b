/**
 * `holdfire stats`: what the records of a ledger add up to, and what they cannot tell.
 *
 * @module
 */

import type { OperationView } from "../../engine/admin/operations.ts";
import type { Licence, StateTag } from "../../ledger/record.ts";
import { type Command, defineCommand, EXIT, LEDGER } from "../command.ts";
import { timeOf } from "../parse.ts";
import { jsonText, paint, type Terminal, tableLines, visible } from "../terminal.ts";
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
    [
      `≥ ${suppressed.callsMetAgain}`,
      "duplicates suppressed: calls for an operation that already existed",
    ],
    [suppressed.foundByReading, "lost replies found by a read, not sent again"],
    [suppressed.recognisedByService, "sends that the service recognised by our key"],
    [all.lateReplies, "late replies filed"],
    [hidden.attempts, `attempts with more than one request (${hidden.extraRequests} extra)`],
    [answers.yes, "times a person approved"],
    [answers.no, "times a person denied"],
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

export interface Stats {
  readonly operations: number;
  readonly byStatus: Readonly<Partial<Record<StateTag, number>>>;
  readonly byTool: Readonly<Record<string, ToolStats>>;
  /** Of those that were fired, the share that is unknown now; 0 if none was. */
  readonly unknownRate: number;
  readonly unknownReasons: Readonly<Record<string, number>>;
  /** How often a tool was fired in all. */
  readonly fired: number;
  /** Of the attempts still on record, those after the first, by what allowed them. */
  readonly firedAgain: Readonly<Partial<Record<Licence, number>>>;
  readonly duplicatesSuppressed: {
    /** Calls with another tool-call id for an operation that already existed: at least this many. */
    readonly callsMetAgain: number;
    /** Lost replies that a read found, instead of a second send. */
    readonly foundByReading: number;
    /** Sends that the service recognised by our key. */
    readonly recognisedByService: number;
  };
  /** Replies that came after their attempt was given up. */
  readonly lateReplies: number;
  readonly hiddenRetries: {
    /** Attempts that sent more than one request. */
    readonly attempts: number;
    /** Their requests beyond the first. */
    readonly extraRequests: number;
  };
  readonly answers: { readonly yes: number; readonly no: number };
  readonly cannotTell: readonly string[];
}

export interface ToolStats {
  readonly operations: number;
  readonly fired: number;
  readonly unknown: number;
}

/** Printed with every result, so that a lower bound is not taken for a count. */
export const CANNOT_TELL: readonly string[] = [
  'replays without a new tool-call id: an answer from the record is not recorded; listen to the event "outcome" with replayed: true',
  'requests that a guarded fetch refused before they were sent; listen to the event "warning" with code "hidden_retry"',
  "whether several requests of one attempt were a retry or several steps of the tool",
  "attempts of operations that were fired more often than the record keeps, or that were pruned",
];

export interface StatsTally {
  add(operation: OperationView): void;
  stats(): Stats;
}

export function createStatsTally(): StatsTally {
  const byStatus: Record<string, number> = {};
  const byTool = new Map<string, { operations: number; fired: number; unknown: number }>();
  const unknownReasons: Record<string, number> = {};
  const firedAgain: Record<string, number> = {};
  let [operations, fired, everFired, unknown, lateReplies] = [0, 0, 0, 0, 0];
  const suppressed = { callsMetAgain: 0, foundByReading: 0, recognisedByService: 0 };
  const hidden = { attempts: 0, extraRequests: 0 };
  const answers = { yes: 0, no: 0 };
  const count = (counts: Record<string, number>, name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };

  return {
    add(operation) {
      const { status, tool, attempts, aliases, evidence, via } = operation;
      const isUnknown = status === "unknown";
      operations += 1;
      fired += operation.fired;
      if (operation.fired > 0) everFired += 1;
      if (isUnknown) unknown += 1;
      if (isUnknown) count(unknownReasons, operation.reason ?? "?");
      count(byStatus, status);
      const of = byTool.get(tool) ?? { operations: 0, fired: 0, unknown: 0 };
      of.operations += 1;
      of.fired += operation.fired;
      if (isUnknown) of.unknown += 1;
      byTool.set(tool, of);
      suppressed.callsMetAgain += Math.max(0, aliases.length - 1);
      if (via === "read") suppressed.foundByReading += 1;
      lateReplies += evidence.length;
      for (const { licence, replayed, wireRequests = 0 } of attempts) {
        if (licence !== "first") count(firedAgain, licence);
        if (replayed) suppressed.recognisedByService += 1;
        if (wireRequests > 1) {
          hidden.attempts += 1;
          hidden.extraRequests += wireRequests - 1;
        }
      }
      for (const { approve } of operation.answers) answers[approve ? "yes" : "no"] += 1;
    },
    stats: () => ({
      operations,
      byStatus,
      byTool: Object.fromEntries(byTool),
      unknownRate: everFired === 0 ? 0 : unknown / everFired,
      unknownReasons,
      fired,
      firedAgain,
      duplicatesSuppressed: { ...suppressed },
      lateReplies,
      hiddenRetries: { ...hidden },
      answers: { ...answers },
      cannotTell: CANNOT_TELL,
    }),
  };
}
