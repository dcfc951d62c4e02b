/**
 * What an adapter under test is asked to do: wrap one tool, call it once, say what the model reads.
 *
 * @module
 */

import type { Holdfire } from "../../create.ts";
import type { ToolWithInput } from "../../engine/define/definition.ts";
import type { Store } from "../../ledger/store.ts";
import type { EffectBody } from "../faulty-service/logs.ts";
import type { TestRunner } from "../runner.ts";

/** The arguments of the one tool of the contract. `note` is no part of its intent. */
export interface PayArguments {
  readonly paymentId: string;
  readonly amount: number;
  readonly note?: string | undefined;
}

export type PayIntent = Pick<PayArguments, "paymentId" | "amount">;

export type PayDefinition = ToolWithInput<PayArguments, PayIntent, EffectBody>;

/** The arguments as JSON Schema, for frameworks that want one. */
export const PAY_SCHEMA = {
  type: "object",
  properties: {
    paymentId: { type: "string" },
    amount: { type: "number" },
    note: { type: "string" },
  },
  required: ["paymentId", "amount"],
  additionalProperties: false,
} as const;

/** One call, as the model and the framework make it. */
export interface AdapterCall {
  /** The JSON text the model wrote. */
  readonly args: string;
  /** The framework's id of this call: another each time the model is asked. */
  readonly toolCallId: string;
  /** The request of a person that the call belongs to. */
  readonly scope: string;
  /** How the framework's user stops the run. */
  readonly signal: AbortSignal | undefined;
}

export interface AdapterSetup {
  readonly hf: Holdfire;
  /** What `hf.tool` takes. Its name is `pay`, its arguments are `PAY_SCHEMA`. */
  readonly definition: PayDefinition;
  readonly call: AdapterCall;
}

/** One call, by the objects that its caller holds, and may change while the call is under way. */
export interface HandedCall {
  readonly args: PayArguments;
  /** The conversation, for an adapter that reads one. Its words and the scope stand for the same request. */
  readonly messages: readonly { readonly role: "user"; readonly content: string }[];
  readonly scope: string;
  readonly toolCallId: string;
}

/** Calls the guarded tool with these very objects, and has read them when it returns. */
export type Hand = (call: HandedCall) => Promise<unknown>;

export interface AdapterContractOptions {
  /**
   * Wraps the tool as the adapter does, calls it once as the framework would, and returns the text
   * that the model gets. If the framework throws instead, let it.
   */
  readonly drive: (setup: AdapterSetup) => Promise<{ readonly text: string }>;
  /**
   * Wraps the tool as the adapter does, and returns what calls it as a program does that calls the guarded tool itself.
   *
   * @default the scenarios of a caller who changes what it has given are left out
   */
  readonly hand?: ((setup: Omit<AdapterSetup, "call">) => Hand | Promise<Hand>) | undefined;
  /**
   * Makes the ledger of one scenario.
   *
   * @default memoryStore({ forgets: "accepted" })
   */
  readonly store?: (() => Store) | undefined;
  /**
   * The `describe` and `test` of your test runner.
   *
   * @default the global ones, which Jest has, and vitest with `globals: true`
   */
  readonly runner?: TestRunner | undefined;
  /** What the framework cannot do. */
  readonly capabilities?: AdapterCapabilities | undefined;
}

export interface AdapterCapabilities {
  /** Whether a run can be stopped by a signal that reaches its tools. @default true */
  readonly abort?: boolean | undefined;
  /** Whether the model reads the envelope of a read, too, and not the tool's own answer. @default true */
  readonly reads?: boolean | undefined;
}
