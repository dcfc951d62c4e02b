/**
 * `holdfire trust`: a person vouches for a ledger that has lost data.
 *
 * @module
 */

import { inside } from "../engine/engine-of.ts";
import { checkPerson } from "../key/check-name.ts";
import { type Command, defineCommand, LEDGER } from "./command.ts";
import { EXIT } from "./exit.ts";
import { withLedger } from "./open-holdfire.ts";
import { jsonText, visible } from "./printable.ts";

export const trust: Command = defineCommand({
  name: "trust",
  summary: "Ends the suspicion against a ledger that has lost data.",
  takes: [],
  about: [
    "A ledger that went back, or is another one than before, is suspect: that it has no record of an operation proves nothing then, and nothing is fired on its word. That ends when a person vouches for it, not by time. Look first at what was sent since the loss.",
    "Without --by it only tells whether the ledger is suspect; ends with 1 if it is.",
  ],
  options: { ...LEDGER, by: { type: "string", value: "NAME", about: "Who vouches for it." } },
  run: ({ values }, terminal) => {
    const { by } = values;
    if (by !== undefined) checkPerson(by);
    return withLedger(values, terminal, async (hf, { where }) => {
      const { ledger } = inside(hf);
      await ledger.open();
      const suspect = ledger.suspicion();
      const trusted = suspect !== undefined && by !== undefined;
      if (trusted) await hf.trust({ by });
      if (values.json) {
        terminal.out(jsonText({ where, suspect: suspect ?? null, trusted, by: by ?? null }));
      } else if (!suspect) terminal.out(`The ledger at ${visible(where)} is not suspect.`);
      else if (trusted) terminal.out(`${visible(by)} vouches for the ledger at ${visible(where)}.`);
      else terminal.out(`The ledger at ${visible(where)} is suspect: ${visible(suspect.why)}.`);
      return suspect && !trusted ? EXIT.found : EXIT.ok;
    });
  },
});
