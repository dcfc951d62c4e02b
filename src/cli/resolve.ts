/**
 * `holdfire resolve KEY`: a person settles what nobody can read.
 *
 * @module
 */

import { checkPerson } from "../key/check-name.ts";
import { refusalOf } from "./answer.ts";
import { type Command, defineCommand, LEDGER } from "./command.ts";
import { EXIT, UsageError } from "./exit.ts";
import { findOperation } from "./find-operation.ts";
import { withLedger } from "./open-holdfire.ts";
import { wholeNumberOf } from "./parse.ts";
import { jsonText } from "./printable.ts";
import { paintStatus } from "./status-words.ts";

export const resolve: Command = defineCommand({
  name: "resolve",
  summary: "Settles an unknown operation by a person's word.",
  takes: ["KEY"],
  about: [
    "For operations that nobody can read: you looked at the service, and say what became of it. --committed: it happened; it is never fired again. --not-applied: it did not; the same call may fire again, with the same key (licence person).",
    "Refused, and nothing changed: if it is settled already, if somebody is at it, if a person is asked about it, or if it changed since --as-of, which holdfire show prints. Ends with 1 then.",
  ],
  options: {
    ...LEDGER,
    committed: { type: "boolean", about: "It happened." },
    "not-applied": { type: "boolean", about: "It certainly did not happen." },
    by: { type: "string", value: "NAME", about: "Who says so. Needed." },
    note: { type: "string", value: "TEXT", about: "How you know." },
    "as-of": {
      type: "string",
      value: "N",
      about: "As holdfire show printed it: not if it changed since.",
    },
  },
  run: ({ values, positionals }, terminal) => {
    const { by, note, committed, "not-applied": notApplied } = values;
    if (committed === notApplied) {
      throw new UsageError("Say one of --committed and --not-applied.");
    }
    if (by === undefined) throw new UsageError("--by is missing: a word has a name.");
    checkPerson(by);
    const seen = wholeNumberOf("as-of", values["as-of"]);
    return withLedger(values, terminal, async (hf) => {
      const { id, at } = await findOperation(hf, positionals[0] ?? "", terminal);
      const as = committed ? "committed" : "not_applied";
      const settled = await hf.operations
        .resolve(id, { as, by, note, asOf: seen ?? at })
        .catch((error: unknown) => Promise.reject(refusalOf(error)));
      if (values.json) terminal.out(jsonText(settled));
      else terminal.out(`${settled.key}: ${paintStatus(settled, terminal)}, by ${by}`);
      return EXIT.ok;
    });
  },
});
