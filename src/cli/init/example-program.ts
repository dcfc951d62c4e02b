/**
 * Makes a program of `examples/` one of the user's own: with a stand-in for the bank, which needs no account.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import { ownFile } from "../own-files.ts";

/** `mts` where the project's package.json does not say that its files are ES modules. */
export type Ending = "ts" | "mts";

/** What the header says is about the example; the bank of the examples runs on their machine only. */
const HEADER = /^\/\*\*[\s\S]*?\*\/\n\n/;
const BANK_IMPORT = /^import .* from "\.\/bank\.ts";\n/m;
const CONFIG_IMPORT = /from "\.\/holdfire\.config\.ts";\n/;

const STAND_IN = `
interface Payout {
  readonly payee: string;
  readonly cents: number;
}

interface Paid extends Payout {
  readonly id: string;
}

/** A stand-in for your service. It remembers the key of a payout, and finds the payout by it. */
const paid = new Map<string, Paid>();
const bank = {
  async pay(payout: Payout, { key }: { readonly key: string }): Promise<Paid> {
    const done = { id: crypto.randomUUID(), ...payout };
    paid.set(key, done);
    return done;
  },
  find: async (key: string): Promise<readonly Paid[]> => [paid.get(key) ?? []].flat(),
  balance: async () => ({ cents: 1000_00 }),
  /** Where your client refreshes its OAuth token. */
  tokens: "https://login.bank.example",
};
`;

export function exampleProgram(name: string, ending: Ending): string {
  const text = readFileSync(ownFile(`examples/${name}.ts`), "utf8");
  return text
    .replace(HEADER, "")
    .replace(BANK_IMPORT, "")
    .replace(CONFIG_IMPORT, () => `from "./holdfire.config.${ending}";\n${STAND_IN}`);
}
