/**
 * The operation that a call belongs to, as it was named: its place in the ledger, and what is run.
 *
 * @module
 */

import type { OperationFacts } from "../../errors.ts";
import type { Json } from "../../key/canonical.ts";
import { wireKey } from "../../key/mint.ts";
import { showScope } from "../../key/scope.ts";
import type { Ref } from "../../ledger/ledger.ts";
import type { Draft } from "../../ledger/moves.ts";
import type { CallOptions } from "../define/definition.ts";
import type { Tool } from "../define/tool.ts";
import type { Outer } from "./nesting.ts";

export interface Operation {
  readonly tool: Tool;
  readonly ref: Ref;
  readonly scope: string;
  /** The caller vouches that nothing was done under this scope before. */
  readonly fresh: boolean;
  readonly args: Json;
  readonly intent: Json;
  readonly draft: Draft;
  /** The operations inside whose attempts it is made, the nearest first. */
  readonly outer?: readonly Outer[] | undefined;
  /** The reason given for another try of something rejected. */
  readonly retry: string | undefined;
}

/** `key` is a caller's own name for the operation, in place of scope and intent. */
export interface Naming extends CallOptions {
  readonly key?: string | undefined;
}

export interface NamedOperation extends OperationFacts {
  readonly tenant: string;
  readonly scope: string;
}

/** Keys already derived, so that one call derives its key once. */
const keys = new WeakMap<Ref, { readonly generation: number; readonly key: string }>();

/** The key that the service sees in this generation. */
export function keyOf({ ref }: Operation, generation: number): string {
  const known = keys.get(ref);
  if (known?.generation === generation) return known.key;
  const key = wireKey(ref.id, generation);
  keys.set(ref, { generation, key });
  return key;
}

/** The operation's name for errors and outcomes. */
export const factsOf = (operation: Operation, generation = 0): OperationFacts => ({
  tool: operation.tool.name,
  id: operation.ref.id,
  key: keyOf(operation, generation),
});

/** The operation's name for events. */
export const about = (operation: Operation, generation = 0): NamedOperation => ({
  tool: operation.tool.name,
  id: operation.ref.id,
  key: keyOf(operation, generation),
  tenant: operation.ref.tenant,
  scope: showScope(operation.scope),
});
