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

interface Bank {
  pay(payment: Payment, options: { readonly signal?: AbortSignal | undefined }): Promise<unknown>;
  find(): never;
}

export const bank: Bank = {
  pay: (payment, { signal }) => stage.pay(payment, signal),
  // The service of a cell cannot be asked.
  find() {
    throw new Error("This bank does not tell what it has paid.");
  },
};
