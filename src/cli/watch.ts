/**
 * `holdfire watch`: prints what changes in a ledger, until Ctrl-C.
 *
 * It asks again and again, so what comes and goes between two looks is seen as one change.
 *
 * @module
 */

import { setTimeout as pause } from "node:timers/promises";
import type { OperationView } from "../engine/admin/operations.ts";
import { inside } from "../engine/engine-of.ts";
import type { Holdfire } from "../holdfire.ts";
import { type Command, defineCommand, LEDGER } from "./command.ts";
import { EXIT } from "./exit.ts";
import { withLedger } from "./open-holdfire.ts";
import { jsonText, visible } from "./printable.ts";
import { paintStatus } from "./status-words.ts";
import { paint, type Terminal } from "./terminal.ts";
import { durationOf, showTime } from "./time.ts";

const EVERY_MS = 2_000;
/** A write that began earlier may show up later: so far back is looked again. */
const OVERLAP_MS = 30_000;
const PAGE = 500;

export const watch: Command = defineCommand({
  name: "watch",
  summary: "Prints what changes in the ledger, until Ctrl-C.",
  takes: [],
  about: [
    "A line for each operation that is new or has changed since the last look: its status, how often it was fired, its tool and key. With --json one JSON object a line. Ctrl-C ends it, with 0.",
  ],
  options: {
    ...LEDGER,
    every: { type: "string", value: "2s", about: "How often it looks. Default 2s." },
    tool: { type: "string", value: "NAME", about: "Only of this tool." },
  },
  run: ({ values }, terminal) => {
    const everyMs = durationOf("every", values.every) ?? EVERY_MS;
    return withLedger(values, terminal, async (hf, { where }) => {
      if (!values.json) terminal.err(`Watching ${visible(where)}; Ctrl-C ends it.`);
      await inside(hf).ledger.open();
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

/** Returns the function that tells what has changed since it was last called. */
function watcher(hf: Holdfire, tool: string | undefined, { signal }: Terminal) {
  const { clock } = inside(hf).ledger;
  let seen = new Map<string, string>();
  let looked = clock.earliest();
  return async (): Promise<readonly OperationView[]> => {
    const since = looked - OVERLAP_MS;
    looked = clock.earliest();
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
    const changed = [...found.values()].filter((one) => seen.get(one.id) !== printOf(one));
    seen = new Map([...found].map(([id, operation]) => [id, printOf(operation)]));
    return changed.sort((one, other) => one.at - other.at);
  };
}

/** What makes two looks at one operation different. */
const printOf = ({ status, at, fired, evidence, answers }: OperationView): string =>
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
