/**
 * `holdfire watch`: prints what changes in a ledger, until Ctrl-C.
 *
 * It polls, so what comes and goes between two polls is seen as one change.
 *
 * @module
 */

import { setTimeout as pause } from "node:timers/promises";
import type { Holdfire } from "../../api.ts";
import type { OperationView } from "../../engine/admin/operations.ts";
import { engineOf } from "../../engine/engine-of.ts";
import { type Command, defineCommand, EXIT, LEDGER } from "../command.ts";
import { durationOf } from "../parse.ts";
import { jsonText, paint, paintStatus, showTime, type Terminal, visible } from "../terminal.ts";
import { withLedger } from "./open-ledger.ts";

const EVERY_MS = 2_000;
/** A write that began earlier may show up later: each poll goes back this far. */
const OVERLAP_MS = 30_000;
const PAGE = 500;

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
      await engineOf(hf).ledger.open();
      const changes = watcher(hf, values.tool, terminal);
      for (let first = true; !terminal.signal.aborted; first = false) {
        for (const operation of await changes()) {
          if (!first) print(operation, values.json, terminal);
        }
        await pause(everyMs, undefined, { signal: terminal.signal }).catch(() => {});
      }
      return EXIT.ok;
    });
  },
});

/** Returns a function that returns what has changed since it was last called. */
function watcher(hf: Holdfire, tool: string | undefined, { signal }: Terminal) {
  const { clock } = engineOf(hf).ledger;
  let seen = new Map<string, string>();
  let polledAt = clock.earliest();
  return async (): Promise<readonly OperationView[]> => {
    const since = polledAt - OVERLAP_MS;
    polledAt = clock.earliest();
    const found = new Map<string, OperationView>();
    // The open ones, too: another attempt of one changes nothing of when its state was reached.
    for (const query of [{ since }, { open: true }]) {
      let cursor: string | undefined;
      do {
        const page = await hf.operations.list({ ...query, tool, limit: PAGE, cursor });
        for (const operation of page.items) found.set(operation.id, operation);
        ({ cursor } = page);
      } while (cursor !== undefined && !signal.aborted);
    }
    const changed = [...found.values()].filter((one) => seen.get(one.id) !== fingerprintOf(one));
    seen = new Map([...found].map(([id, operation]) => [id, fingerprintOf(operation)]));
    return changed.sort((one, other) => one.at - other.at);
  };
}

/** What makes two states of one operation different. */
const fingerprintOf = ({ status, at, fired, evidence, answers }: OperationView): string =>
  [status, at, fired, evidence.length, answers.length].join(" ");

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
