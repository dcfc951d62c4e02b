/**
 * `holdfire watch`: prints what changes in a ledger, until Ctrl-C.
 *
 * It polls, so what comes and goes between two polls is seen as one change.
 *
 * @module
 */

import { setTimeout as pause } from "node:timers/promises";
import { changesIn } from "../../describe/changes.ts";
import type { OperationView } from "../../engine/admin/operations.ts";
import { type Command, defineCommand, EXIT, LEDGER } from "../command.ts";
import { durationOf } from "../parse.ts";
import { jsonText, paint, paintStatus, showTime, type Terminal, visible } from "../terminal.ts";
import { withLedger } from "./open-ledger.ts";

const EVERY_MS = 2_000;

export const watch: Command = defineCommand({
  name: "watch",
  summary: "Prints what changes in the ledger, until Ctrl-C.",
  takes: [],
  about: [
    "A line for each operation that is new or has changed since the last poll: its status, how often it was fired, its tool and key. With --json one JSON object a line. Ctrl-C ends it, with 0.",
  ],
  options: {
    ...LEDGER,
    every: { type: "string", value: "2s", about: "How often it polls. Default 2s." },
    tool: { type: "string", value: "NAME", about: "Only of this tool." },
  },
  run: ({ values }, terminal) => {
    const everyMs = durationOf("every", values.every) ?? EVERY_MS;
    return withLedger(values, terminal, async (hf, { where }) => {
      if (!values.json) terminal.err(`Watching ${visible(where)}; Ctrl-C ends it.`);
      const changes = changesIn(hf, terminal.signal);
      for (let first = true; !terminal.signal.aborted; first = false) {
        for (const operation of await changes()) {
          const isWanted = values.tool === undefined || values.tool === operation.tool;
          if (!first && isWanted) print(operation, values.json, terminal);
        }
        await pause(everyMs, undefined, { signal: terminal.signal }).catch(() => {});
      }
      return EXIT.ok;
    });
  },
});

function print(operation: OperationView, json: boolean, terminal: Terminal): void {
  if (json) {
    terminal.out(jsonText(operation, 0));
    return;
  }
  const { at, tool, key, fired } = operation;
  const when = paint(terminal, "gray", showTime(at));
  const status = paintStatus(operation, terminal);
  terminal.out(`${when}  ${status}  ${visible(tool, 60)}  ${key}  fired ${fired}`);
}
