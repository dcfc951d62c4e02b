/**
 * `holdfire prune`: wipes what is older than it need be.
 *
 * @module
 */

import { type Command, defineCommand, EXIT, LEDGER } from "../command.ts";
import { durationOf } from "../parse.ts";
import { jsonText } from "../terminal.ts";
import { withLedger } from "./open-ledger.ts";

export const prune: Command = defineCommand({
  name: "prune",
  summary: "Wipes old results, and old operations where asked.",
  takes: [],
  about: [
    "Results are wiped 30 days after their operation was settled; the record of how it was settled stays. Open operations are never touched.",
    "--tombstones-older-than removes settled operations completely: the same call in the same scope would then fire again. It is off by default.",
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
      about: "Removes operations settled longer ago than this.",
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
          terminal.status(`wiped ${payloads} results, removed ${tombstones} operations`),
      });
      terminal.status("");
      const stopped = terminal.signal.aborted;
      const { payloads, tombstones } = pruned;
      if (values.json) terminal.out(jsonText({ ...pruned, stopped }));
      else terminal.out(`Wiped ${payloads} results, removed ${tombstones} operations.`);
      return stopped ? EXIT.found : EXIT.ok;
    });
  },
});
