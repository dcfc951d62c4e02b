/**
 * `holdfire prune`: wipes what is older than it need be.
 *
 * @module
 */

import { type Command, defineCommand, LEDGER } from "./command.ts";
import { EXIT } from "./exit.ts";
import { withLedger } from "./open-holdfire.ts";
import { jsonText } from "./printable.ts";
import { durationOf } from "./time.ts";

export const prune: Command = defineCommand({
  name: "prune",
  summary: "Wipes old results, and old operations where that is asked for.",
  takes: [],
  about: [
    "Results are wiped 30 days after their operation was settled; that it was settled, and how, is kept. Open operations are never touched.",
    "--tombstones-older-than forgets settled operations altogether: the same call in the same scope would then fire again. It is off unless you ask for it.",
  ],
  options: {
    ...LEDGER,
    "payloads-older-than": {
      type: "string",
      value: "30d",
      about: "Wipes results older than this. Default 30d.",
    },
    "tombstones-older-than": {
      type: "string",
      value: "365d",
      about: "Forgets operations settled longer ago than this.",
    },
  },
  run: ({ values }, terminal) => {
    const payloadsOlderThanMs = durationOf("payloads-older-than", values["payloads-older-than"]);
    const tombstonesOlderThanMs = durationOf(
      "tombstones-older-than",
      values["tombstones-older-than"],
    );
    return withLedger(values, terminal, async (hf) => {
      const pruned = await hf.prune({
        payloadsOlderThanMs,
        tombstonesOlderThanMs,
        signal: terminal.signal,
        onProgress: ({ payloads, tombstones }) =>
          terminal.status(`wiped ${payloads} results, forgot ${tombstones} operations`),
      });
      terminal.status("");
      const stopped = terminal.signal.aborted;
      const { payloads, tombstones } = pruned;
      if (values.json) terminal.out(jsonText({ ...pruned, stopped }));
      else terminal.out(`Wiped ${payloads} results, forgot ${tombstones} operations.`);
      return stopped ? EXIT.found : EXIT.ok;
    });
  },
});
