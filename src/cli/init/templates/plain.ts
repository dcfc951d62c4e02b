/**
 * No framework: a function of your own, whose reply is lost.
 *
 * @module
 */

import { code, type Template } from "../template.ts";

export const plain: Template = {
  name: "plain",
  packages: [],
  needs: [],
  config: (ending) => code`
    import { createHoldfire } from "holdfire";
    import { defineConfig } from "holdfire/config";

    /** Remembers in .holdfire/ledger.db. The rest of the program imports it from here. */
    export const hf = createHoldfire();

    /** What npx holdfire looks at. A function, so that the files of tools can import hf from here. */
    export default defineConfig(async () => {
      const { payOut } = await import("./holdfire.example.${ending}");
      return { hf, tools: [payOut] };
    });
  `,
  example: (ending) => code`
    import { absent, committed } from "holdfire";
    import { hf } from "./holdfire.config.${ending}";

    interface Payout {
      readonly id: string;
      readonly payee: string;
      readonly cents: number;
    }

    /** A stand-in for your service: it pays, and its reply is lost. */
    const paid = new Map<string, Payout>();
    const bank = {
      async pay(payout: { payee: string; cents: number }, reference: string): Promise<Payout> {
        paid.set(reference, { id: crypto.randomUUID(), ...payout });
        throw new Error("connection reset");
      },
      async find(reference: string): Promise<Payout | undefined> {
        return paid.get(reference);
      },
    };

    /** The key goes to the service, and is what the reader looks for. */
    export const payOut = hf.tool({
      name: "pay_out",
      kind: "write",
      run: (payout: { payee: string; cents: number }, { key }) => bank.pay(payout, key),
      readState: async ({ key }) => {
        const found = await bank.find(key);
        return found ? committed(found, { effectId: found.id }) : absent();
      },
    });

    /** Run it twice: it is the same scope, so the second run is answered from the ledger. */
    if (import.meta.main) {
      const outcome = await payOut.outcome({ payee: "ana", cents: 4000 }, { scope: "example/1" });
      const sent = outcome.replayed ? "nothing was sent now" : "sent once, found by reading";
      console.log(outcome.status + ": " + sent + ", payouts made by this run: " + paid.size);
      await hf.close();
    }
  `,
};
