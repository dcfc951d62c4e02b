/**
 * The report of a chaos test, for people.
 *
 * @module
 */

import { paint, type Terminal, visible } from "../terminal.ts";
import type { FaultRun, Finding, Report } from "./report.ts";

const LAYERS: Readonly<Record<Finding["layer"], string>> = {
  sdk: "the SDK",
  framework: "the framework",
  model: "the model, which was told of a failure and asked again",
  loop: "a loop outside",
  restart: "a new process",
  cannot_tell: "cannot tell",
};

export function printReport(report: Report, terminal: Terminal): void {
  const { out } = terminal;
  const { writes } = report.withoutFaults;
  out(paint(terminal, "bold", "Without faults"));
  for (const { write, sent } of writes) out(`  ${sent} × ${visible(write)}`);
  if (writes.length === 0) {
    out(
      "  no write was seen: only programs that run on Node are watched, and --match names others",
    );
  }
  for (const run of report.runs) printRun(run, terminal);
  out("");
  for (const note of report.notes) out(paint(terminal, "yellow", visible(note)));
  out(verdictText(report, terminal));
}

function printRun(run: FaultRun, terminal: Terminal): void {
  const { out } = terminal;
  const { fault, nth, write, isHit, isCut, sentAgain } = run;
  out("");
  out(paint(terminal, "bold", `With ${fault} for write ${nth}, ${visible(write)}`));
  if (!isHit) {
    out(`  ${paint(terminal, "yellow", "void")}: the reply was not broken`);
    return;
  }
  if (isCut) {
    const why = "--timeout stopped the run while the agent was waiting; give it more time";
    out(`  ${paint(terminal, "yellow", "void")}: ${why}`);
  } else if (sentAgain.length === 0) out(`  ${paint(terminal, "green", "nothing was sent again")}`);
  for (const finding of sentAgain) printFinding(finding, terminal);
}

function printFinding(finding: Finding, terminal: Terminal): void {
  const { out } = terminal;
  const { write, sent, withoutFaults, isSameBody, isKeyed, layer, by, at, change } = finding;
  const how = [
    isSameBody ? "same body" : "another body",
    isKeyed ? "same key: the service can tell" : "no key",
  ].join(", ");
  const style = isKeyed ? "yellow" : "red";
  out(
    `  ${paint(terminal, style, `sent ${timesOf(sent)}`)}, not ${timesOf(withoutFaults)}: ${visible(write)} (${how})`,
  );
  const isOwn = layer === "loop" && by === undefined;
  const who = isOwn ? "a loop in your own code" : LAYERS[layer];
  out(`    by      ${who}${by === undefined ? "" : `: ${visible(by)}`}`);
  if (at !== undefined) out(`    at      ${visible(at)}`);
  out(`    change  ${visible(change)}`);
}

const timesOf = (count: number): string => ["never", "once", "twice"][count] ?? `${count} times`;

function verdictText({ verdict, runs }: Report, terminal: Terminal): string {
  const hit = runs.filter(({ isHit }) => isHit).length;
  const cut = runs.filter(({ isHit, isCut }) => isHit && isCut).length;
  const all = `${runs.length} ${runs.length === 1 ? "reply" : "replies"}`;
  if (verdict === "nothing_sent_twice") {
    return paint(terminal, "green", `Nothing was sent twice. Broken: ${all}.`);
  }
  if (verdict === "void" && cut > 0) {
    const stopped = `${cut} ${cut === 1 ? "run" : "runs"} stopped by --timeout`;
    return paint(terminal, "yellow", `Void: ${hit} of ${all} broken, ${stopped}.`);
  }
  if (verdict === "void") {
    return paint(
      terminal,
      "yellow",
      `Void: ${hit} of ${all} broken. Nothing is shown by a reply that was not.`,
    );
  }
  const count = runs.filter(({ sentAgain }) => sentAgain.some(({ isKeyed }) => !isKeyed)).length;
  return paint(
    terminal,
    "red",
    `Sent twice: ${count} of ${runs.length} broken replies led to a second send.`,
  );
}
