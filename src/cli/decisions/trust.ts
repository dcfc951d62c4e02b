/**
 * `holdfire trust`: a person accepts a ledger that has lost data.
 *
 * @module
 */

import { engineOf } from "../../engine/engine-of.ts";
import { checkPerson } from "../../key/check-name.ts";
import { type Command, defineCommand, EXIT, LEDGER } from "../command.ts";
import { withLedger } from "../ledger/open-ledger.ts";
import { jsonText, visible } from "../terminal.ts";

export const trust: Command = defineCommand({
  name: "trust",
  summary: "Ends the suspicion against a ledger that has lost data.",
  takes: [],
  about: [
    "A ledger that was set back, or that is another one than before, is suspect: a missing record then proves nothing, and nothing is fired because of it. The suspicion ends when a person accepts the ledger, not with time. First check what was sent since the loss.",
    "Without --by it only says whether the ledger is suspect, and ends with 1 if it is.",
  ],
  options: { ...LEDGER, by: { type: "string", value: "NAME", about: "Who accepts it." } },
  run: ({ values }, terminal) => {
    const { by } = values;
    if (by !== undefined) checkPerson(by);
    return withLedger(values, terminal, async (hf, { where }) => {
      const { ledger } = engineOf(hf);
      await ledger.open();
      const suspect = ledger.suspicion();
      const trusted = suspect !== undefined && by !== undefined;
      if (trusted) await hf.trust({ by });
      if (values.json) {
        terminal.out(jsonText({ where, suspect: suspect ?? null, trusted, by: by ?? null }));
      } else if (!suspect) terminal.out(`The ledger at ${visible(where)} is not suspect.`);
      else if (trusted) terminal.out(`${visible(by)} accepts the ledger at ${visible(where)}.`);
      else terminal.out(`The ledger at ${visible(where)} is suspect: ${visible(suspect.why)}.`);
      return suspect && !trusted ? EXIT.found : EXIT.ok;
    });
  },
});
