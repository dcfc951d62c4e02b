/**
 * Rebuilds an operation from its record, without the caller that made it.
 *
 * @module
 */

import type { Tool } from "../engine/define/tool.ts";
import type { Engine } from "../engine/engine.ts";
import type { Operation } from "../engine/operation/operation.ts";
import { canonicalize } from "../key/canonical.ts";
import type { Json } from "../key/json.ts";
import { hashArguments } from "../key/mint.ts";
import type { OperationRecord } from "../ledger/record.ts";

/** The tools of another program may have the same names, and look in another account. */
export const isOfProgram = ({ app }: OperationRecord, engine: Pick<Engine, "app">): boolean =>
  app === engine.app;

/** Another tool of the name, of a service of its own, would look in the wrong place. */
export const isOfService = ({ service }: OperationRecord, tool: Tool): boolean =>
  service === tool.service;

export interface Recalled {
  readonly operation: Operation;
  /** All arguments are in the intent, so it can be sent again unchanged. */
  readonly sameArguments: boolean;
}

/** `undefined` if the intent cannot be decrypted or decoded here. */
export function recall(record: OperationRecord, tool: Tool, engine: Engine): Recalled | undefined {
  // It was settled as not applied, and then a request of it left: it can be read by its key alone.
  if (!record.intent) {
    return { operation: recallSettled(record, tool, () => {}), sameArguments: false };
  }
  const decoded = engine.codec.decode(record.intent, record);
  if (!decoded.ok) return undefined;
  const { value, text } = canonicalize(decoded.value, "intent");
  // Where the intent is all arguments, the record says so: its fingerprint stands for them.
  const isWhole = record.argsHash === record.fingerprint;
  const argsHash = isWhole ? record.argsHash : hashArguments(text, record.id);
  return {
    operation: operationOf(record, tool, argsHash, () => value),
    sameArguments: argsHash === record.argsHash,
  };
}

/** A settled operation, whose intent is no longer kept. `onIntent` is called if a reader asks for it. */
export function recallSettled(
  record: OperationRecord,
  tool: Tool,
  onIntent: () => void,
): Operation {
  return operationOf(record, tool, record.argsHash, () => {
    onIntent();
    throw new Error("The intent is not kept once an operation is settled.");
  });
}

function operationOf(
  record: OperationRecord,
  tool: Tool,
  argsHash: string,
  intentOf: () => Json,
): Operation {
  const { tenant, id, scope, fingerprint, again, version, resource, parent } = record;
  const { service, fields, precondition, intent } = record;
  const identity = { tenant, id, scope, fingerprint, again, version, resource, parent, service };
  return {
    tool,
    ref: { tenant, id },
    scope,
    fresh: false,
    // Sent only if their hash is that of the first attempt's arguments.
    get args() {
      return intentOf();
    },
    get intent() {
      return intentOf();
    },
    retry: undefined,
    draft: {
      identity: { ...identity, tool: record.tool, run: record.run },
      argsHash,
      fields,
      intent: intent ?? { form: "undefined", text: "" },
      precondition,
      aliases: [],
    },
  };
}
