/**
 * What a reconciliation found, as lines for people.
 *
 * @module
 */

import type { DriftFinding, DriftReport } from "../../reconcile/drift-report.ts";
import type { ReconcileReport } from "../../reconcile/report.ts";
import { visible } from "../printable.ts";
import { paint, type Terminal } from "../terminal.ts";

/** With --json there is no such limit. */
const MOST_LINES = 100;

const ENDED = {
  done: "",
  limit: " There are more.",
  stopped: " It was stopped.",
} as const;

export function printReconciled(report: ReconcileReport, terminal: Terminal): void {
  const { out } = terminal;
  const { checked, committed, notApplied, stillUnknown, resent, skipped, ended, cursor } = report;
  out(
    `Looked at ${checked}: ${committed} committed, ${notApplied} not applied, ${stillUnknown.length} still unknown; ${resent} sent again.${ENDED[ended]}`,
  );
  const lines = stillUnknown.map(
    ({ tool, key, reason, because }) =>
      `${paint(terminal, "red", "unknown")}  ${visible(tool, 60)}  ${key}  ${reason}${because ? ` (${because})` : ""}`,
  );
  printSome(lines, terminal);
  if (skipped.busy > 0) out(`Somebody is at ${skipped.busy} of them.`);
  if (skipped.otherVersion > 0) out(`${skipped.otherVersion} are of another version of the tool.`);
  for (const [tool, count] of Object.entries(skipped.noTool)) {
    out(`${count} of "${visible(tool, 60)}" were left alone: the config has no such tool.`);
  }
  if (cursor !== undefined) out(`To go on: --cursor ${visible(cursor)}`);
}

export function printDrift(report: DriftReport, terminal: Terminal): void {
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
  const { tool, effectId } = finding;
  const what = paint(terminal, "red", finding.finding);
  const effect = effectId === undefined ? "" : `  effect ${visible(effectId)}`;
  const key = finding.key === undefined ? "" : `  ${visible(finding.key)}`;
  return `${what}  ${visible(tool, 60)}${key}${effect}`;
}

function printSome(lines: readonly string[], { out }: Terminal): void {
  for (const line of lines.slice(0, MOST_LINES)) out(line);
  if (lines.length > MOST_LINES) out(`… and ${lines.length - MOST_LINES} more; --json has all.`);
}
