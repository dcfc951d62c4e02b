/**
 * The figures of the console's health as Prometheus text. What is counted over a time is a gauge: the ledger forgets
 * what is pruned, so nothing here only rises.
 *
 * @module
 */

import type { Health } from "../model.ts";

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number];

/** Pure. */
export function metricsText(health: Health): string {
  const { open, suppressed, outcomes, hiddenRetries, now } = health;
  const lanes = open.lanes.map(({ waiting }) => waiting);
  const age = open.oldestUnknown ? Math.max(0, now - open.oldestUnknown.at) / 1_000 : 0;
  const byStatus = Object.entries(outcomes.series).map(
    ([status, counts]): Sample => [{ status }, counts.reduce((sum, n) => sum + n, 0)],
  );
  const states = ["held", "claimed", "unknown"] as const;
  const lines = [
    gauge("open_operations", "Operations that are not settled, by status.", [
      ...states.map((status): Sample => [{ status }, open.byStatus[status] ?? 0]),
    ]),
    gauge("oldest_unknown_seconds", "For how long the oldest unknown is unknown; 0 if none is.", [
      [{}, age],
    ]),
    gauge("lanes_waiting", "Operations that wait for an earlier write, on all resources.", [
      [{}, lanes.reduce((sum, n) => sum + n, 0)],
    ]),
    gauge("day_operations", "Operations made in the last 24 hours, by status now.", byStatus),
    gauge("day_complete", "1 if all operations of the last 24 hours were read.", [
      [{}, health.complete ? 1 : 0],
    ]),
    gauge("day_unknown_ratio", "Of those that were fired, the share that is unknown now.", [
      [{}, health.unknownRate],
    ]),
    gauge("day_fired_operations", "Operations by how often they were fired.", [
      ...health.firedTimes.map(({ times, operations }): Sample => [{ times }, operations]),
    ]),
    gauge("day_duplicates_suppressed", "Second effects that did not happen, by what kept them.", [
      [{ by: "record" }, suppressed.callsMetAgain],
      [{ by: "read" }, suppressed.foundByReading],
      [{ by: "service" }, suppressed.recognisedByService],
    ]),
    gauge("day_late_replies", "Replies that came after the time of their attempt was up.", [
      [{}, health.lateReplies],
    ]),
    gauge("day_extra_requests", "Requests of an attempt beyond the first, by tool.", [
      ...hiddenRetries.byTool.map(({ tool, requests }): Sample => [{ tool }, requests]),
    ]),
    gauge("process_hidden_retries", "Hidden retries that this process saw, by origin.", [
      ...hiddenRetries.byClient.map(({ origin, requests }): Sample => [{ origin }, requests]),
    ]),
  ];
  return `${lines.flat().join("\n")}\n`;
}

function gauge(name: string, help: string, samples: readonly Sample[]): readonly string[] {
  const full = `holdfire_ledger_${name}`;
  const of = ([labels, value]: Sample) => `${full}${labelText(labels)} ${value}`;
  return [`# HELP ${full} ${help}`, `# TYPE ${full} gauge`, ...samples.map(of)];
}

function labelText(labels: Labels): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return parts.length > 0 ? `{${parts.join(",")}}` : "";
}

const escaped = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
