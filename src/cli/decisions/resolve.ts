/**
 * `holdfire resolve KEY`: a person settles what no reader can.
 *
 * @module
 */

import { type Command, defineCommand, EXIT, LEDGER, UsageError } from "../command.ts";
import { withLedger } from "../ledger/open-ledger.ts";
import { findOperation } from "../ledger/operations.ts";
import { wholeNumberOf } from "../parse.ts";
import { jsonText, paintStatus } from "../terminal.ts";
import { personNamed, refuse } from "./answer.ts";

export const resolve: Command = defineCommand({
  name: "resolve",
  summary: "Settles an unknown operation by a person's answer.",
  takes: ["KEY"],
  about: [
    "For operations that no reader can settle: you checked the service, and say what happened. --committed: it happened, and is never fired again. --not-applied: it did not happen; the same call may fire again, with the same key (licence person).",
    "Ends with 1 and changes nothing if the operation is settled already, if another process owns it, if it is waiting for approval, or if it has changed since --as-of, which holdfire show prints.",
  ],
  options: {
    ...LEDGER,
    committed: { type: "boolean", about: "It happened." },
    "not-applied": { type: "boolean", about: "It certainly did not happen." },
    by: { type: "string", value: "NAME", about: "Who answers. Needed." },
    note: { type: "string", value: "TEXT", about: "How you know." },
    "as-of": {
      type: "string",
      value: "N",
      about: "As holdfire show printed it: refused if the operation has changed since.",
    },
  },
  run: ({ values, positionals }, terminal) => {
    const { note, committed, "not-applied": notApplied } = values;
    if (committed === notApplied) {
      throw new UsageError("Give either --committed or --not-applied.");
    }
    const by = personNamed(values.by);
    const seen = wholeNumberOf("as-of", values["as-of"]);
    return withLedger(values, terminal, async (hf) => {
      const { id, at } = await findOperation(hf, positionals[0] ?? "", terminal);
      const as = committed ? "committed" : "not_applied";
      const settled = await hf.operations
        .resolve(id, { as, by, note, asOf: seen ?? at })
        .catch(refuse);
      if (values.json) terminal.out(jsonText(settled));
      else terminal.out(`${settled.key}: ${paintStatus(settled, terminal)}, by ${by}`);
      return EXIT.ok;
    });
  },
});
