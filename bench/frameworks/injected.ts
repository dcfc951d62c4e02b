/**
 * What a program of `examples/` gets in the place of its bank and its holdfire: those of its cell.
 *
 * @module
 */

import type { Holdfire } from "../../src/create.ts";
import { stageOf } from "./program.ts";
import type { Payment } from "./stage.ts";

const stage = stageOf(import.meta.url);

/** Missing in the cells without holdfire, where it is only handed on. */
export const hf: Holdfire | undefined = stage.hf;

/** Only a program that is started by itself needs it. */
export const ledger: string | undefined = undefined;

interface Bank {
  readonly tokens: string;
  pay(payment: Payment, options: { readonly signal?: AbortSignal | undefined }): Promise<unknown>;
  find(key: string): Promise<unknown>;
  balance(): Promise<unknown>;
}

export const bank: Bank = stage.bank ?? {
  tokens: "https://login.example",
  pay: (payment, { signal }) => stage.pay(payment, signal),
  // The service of a cell cannot be asked.
  async find() {
    throw new Error("This bank does not tell what it has paid.");
  },
  balance: async () => ({ cents: 1000_00 }),
};
