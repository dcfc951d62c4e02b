/**
 * `holdfire reconcile`: settles open operations by reading, with the readers of your own tools.
 *
 * @module
 */

import type { Holdfire } from "../api.ts";
import type { DriftFinding, DriftReport } from "../reconcile/drift-report.ts";
import type { ReconcileOptions, ReconcileReport } from "../reconcile/report.ts";
import { CONFIG, type Command, defineCommand, EXIT } from "./command.ts";
import { loadConfig } from "./load-config.ts";
import { timeOf, wholeNumberOf } from "./parse.ts";
import { jsonText, paint, type Terminal, visible } from "./terminal.ts";

export const reconcile: Command = defineCommand({
  name: "reconcile",
  summary: "Settles what is unknown by reading, with your tools.",
  takes: [],
  about: [
    "Loads your holdfire.config.ts and calls the readers of its tools for operations that are unknown or whose process has died, on the ledger and the tenant of the config. It sends nothing, unless --resend allows the licence keyed: the service recognises the key. Several may run at once.",
    "--drift also compares what is committed with what is there now: gone, done twice, changed, or made by something else. It reports and repairs nothing.",
    "Ends with 1 if an operation is still unknown or was left over, or drift was found.",
  ],
  options: {
    ...CONFIG,
    tool: { type: "string", multiple: true, value: "NAME", about: "Only these tools." },
    limit: { type: "string", value: "N", about: "At most this many operations. Default 1000." },
    since: { type: "string", value: "WHEN", about: "Reached their state since: 24h, or a date." },
    cursor: { type: "string", value: "TEXT", about: "Goes on where an earlier report ended." },
    resend: { type: "boolean", about: "Also sends again under the same key (keyed)." },
    drift: { type: "boolean", about: "Also reports drift, of the last 24 hours or --since." },
  },
  run: async ({ values }, terminal) => {
    const limit = wholeNumberOf("limit", values.limit);
    const since = timeOf("since", values.since, terminal.now());
    const { hf } = await loadConfig(values.config, terminal);
    const tools = values.tool.length > 0 ? values.tool : undefined;
    const { cursor, resend, drift, json } = values;
    try {
      const options = { tools, limit, since, cursor, resend };
      return await work(hf, options, { drift, json }, terminal);
    } finally {
      terminal.status("");
      await hf.close();
    }
  },
});

async function work(
  hf: Holdfire,
  options: ReconcileOptions,
  { drift, json }: { readonly drift: boolean; readonly json: boolean },
  terminal: Terminal,
): Promise<number> {
  const { signal } = terminal;
  const report = await hf.reconcile({
    ...options,
    signal,
    onProgress: ({ checked, committed, notApplied, stillUnknown }) =>
      terminal.status(
        `checked ${checked}: ${committed} committed, ${notApplied} not applied, ${stillUnknown} still unknown`,
      ),
  });
  const { tools, since } = options;
  const found = drift
    ? await hf.driftReport({
        tools,
        since,
        signal,
        onProgress: ({ checked, findings }) =>
          terminal.status(`compared ${checked}: ${findings} findings`),
      })
    : undefined;
  terminal.status("");
  if (json) terminal.out(jsonText({ reconciled: report, drift: found }));
  else {
    printReconciled(report, terminal);
    if (found) printDrift(found, terminal);
  }
  const isDone = report.ended === "done" && report.stillUnknown.length === 0;
  const isClean = !found || (found.ended === "done" && found.findings.length === 0);
  return isDone && isClean ? EXIT.ok : EXIT.found;
}

/** With --json there is no such limit. */
const MOST_LINES = 100;

const ENDED = {
  done: "",
  limit: " There are more.",
  stopped: " It was stopped.",
} as const;

function printReconciled(report: ReconcileReport, terminal: Terminal): void {
  const { out } = terminal;
  const { checked, committed, notApplied, stillUnknown, resent, skipped, ended, cursor } = report;
  out(
    `Checked ${checked}: ${committed} committed, ${notApplied} not applied, ${stillUnknown.length} still unknown; ${resent} sent again.${ENDED[ended]}`,
  );
  const lines = stillUnknown.map(
    ({ tool, key, reason, because }) =>
      `${paint(terminal, "red", "unknown")}  ${visible(tool, 60)}  ${key}  ${reason}${because ? ` (${because})` : ""}`,
  );
  printSome(lines, terminal);
  if (skipped.busy > 0) out(`Other processes own ${skipped.busy} of them.`);
  if (skipped.otherApp > 0) out(`${skipped.otherApp} belong to another program (app).`);
  if (skipped.otherVersion > 0)
    out(`${skipped.otherVersion} belong to another version of the tool.`);
  if (skipped.unreadable > 0)
    out(`${skipped.unreadable} cannot be read: their records are damaged.`);
  for (const [tool, count] of Object.entries(skipped.noTool)) {
    out(`${count} of "${visible(tool, 60)}" were left open: the config has no such tool.`);
  }
  if (cursor !== undefined) out(`To continue: add --cursor ${visible(cursor)}`);
}

function printDrift(report: DriftReport, terminal: Terminal): void {
  const { out } = terminal;
  const { checked, findings, notCompared, tools, ended } = report;
  out(
    `Compared ${checked} committed operations: ${findings.length} findings, ${notCompared.length} could not be compared.${ENDED[ended]}`,
  );
  printSome(
    findings.map((finding) => lineOf(finding, terminal)),
    terminal,
  );
  for (const { tool, effects, changes, foreign } of tools) {
    out(`${visible(tool, 60)}: effects ${effects}, changes ${changes}, foreign ${foreign}`);
  }
}

function lineOf(finding: DriftFinding, terminal: Terminal): string {
  const { tool } = finding;
  const what = paint(terminal, "red", finding.finding);
  if (finding.finding === "reader_blind") {
    const found = `finds none of ${finding.missed} committed operations`;
    return `${what}  ${visible(tool, 60)}  ${found}`;
  }
  const { effectId } = finding;
  const effect = effectId === undefined ? "" : `  effect ${visible(effectId)}`;
  const key = finding.key === undefined ? "" : `  ${visible(finding.key)}`;
  return `${what}  ${visible(tool, 60)}${key}${effect}`;
}

function printSome(lines: readonly string[], { out }: Terminal): void {
  for (const line of lines.slice(0, MOST_LINES)) out(line);
  if (lines.length > MOST_LINES) out(`… and ${lines.length - MOST_LINES} more; --json prints all.`);
}
