/**
 * What `tool.plan` tells of a call that is not made. The work is in `src/gate`.
 *
 * @module
 */

import type { Json } from "../../key/json.ts";
import type { StateTag } from "../../ledger/record.ts";
import type { PlannedChange } from "./definition.ts";

export type PlannedEffect =
  | "would_create"
  | "would_update"
  | "would_delete"
  /** Changes of several kinds. */
  | "would_change"
  /** The plan has no changes, or the tool only reads. */
  | "would_do_nothing"
  /** The tool has no `plan`: these arguments would be sent, and what they change is not known. */
  | "would_send"
  /** The outcome is in the ledger: the call would be answered from there. */
  | "would_replay"
  /** An earlier call of the same operation is not settled: this one would first look what became of it. */
  | "would_look";

/** A dry run. Nothing was sent, and nothing was written down. */
export interface PlannedCall {
  readonly tool: string;
  readonly effect: PlannedEffect;
  readonly changes: readonly PlannedChange[];
  /** The changes as text for people, hidden characters made visible. Bounded; says what it leaves out. */
  readonly diff: string;
  /** Side effects that no plan shows. */
  readonly alsoDoes: readonly string[];
  /** What would be sent. */
  readonly args: Json;
  /** The call would wait for a person's yes. */
  readonly needsApproval: boolean;
  /** The operation it would be, where there is a scope. */
  readonly id?: string | undefined;
  readonly key?: string | undefined;
  /** What the ledger has of that operation. */
  readonly known?: StateTag | undefined;
  /** One sentence that says the same. */
  readonly message: string;
}
