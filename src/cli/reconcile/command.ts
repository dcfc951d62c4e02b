/**
 * `holdfire reconcile`: settles open operations by reading, with the readers of your own tools.
 *
 * @module
 */

import type { Holdfire } from "../../holdfire.ts";
import type { ReconcileOptions } from "../../reconcile/report.ts";
import { CONFIG, type Command, defineCommand } from "../command.ts";
import { EXIT } from "../exit.ts";
import { loadConfig } from "../load-config.ts";
import { wholeNumberOf } from "../parse.ts";
import { jsonText } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { timeOf } from "../time.ts";
import { printDrift, printReconciled } from "./report.ts";

export const reconcile: Command = defineCommand({
  name: "reconcile",
  summary: "Settles what is unknown by reading, with your own tools.",
  takes: [],
  about: [
    "Loads your holdfire.config.ts and asks the readers of its tools what became of operations that are unknown or whose owner is gone. It sends nothing, unless --resend allows what the service itself recognises by key (keyed). Several may run at once. It works on the ledger and the tenant of the config.",
    "--drift also compares what is committed with what is there now: gone, done twice, changed, done by nobody we know. It reports and repairs nothing.",
    "Ends with 1 if something is still unknown, was left over, or if drift was found.",
  ],
  options: {
    ...CONFIG,
    tool: { type: "string", multiple: true, value: "NAME", about: "Only these tools." },
    limit: { type: "string", value: "N", about: "At most so many operations. Default 1000." },
    since: { type: "string", value: "WHEN", about: "Reached their state since: 24h, or a date." },
    cursor: { type: "string", value: "TEXT", about: "Goes on where an earlier report ended." },
    resend: { type: "boolean", about: "Also sends again under the same key (keyed)." },
    drift: { type: "boolean", about: "Also looks for drift, of the last 24 hours or --since." },
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
        `looked at ${checked}: ${committed} committed, ${notApplied} not applied, ${stillUnknown} still unknown`,
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
