/**
 * What a claim is answered with that is not to be fired: the outcome that the ledger knows, or that this call has sent nothing.
 *
 * @module
 */

import type { Stored } from "../../../ledger/record.ts";
import type { Engine } from "../../engine.ts";
import { type Execution, isOfIntent, type Operation } from "../../operation/operation.ts";
import type { Outcome } from "../../operation/outcome.ts";
import { commonOf, conflict } from "../../outcome/build.ts";
import { replay } from "../../outcome/replay.ts";
import { askStore } from "../../store-call.ts";
import { noteRepeat } from "./note-repeat.ts";

export interface Known {
  readonly tag: "known";
  readonly outcome: Outcome<unknown>;
}

/** This call sent nothing; what became of the operation otherwise is in the ledger. */
export async function tellUnsent(
  execution: Execution,
  why: Pick<Extract<Outcome<unknown>, { status: "not_applied" }>, "reason" | "error">,
  engine: Engine,
): Promise<Known> {
  const { operation } = execution;
  const stored = await askStore(engine, "read", engine.ledger.read(operation.ref));
  if (stored) return tellRecord(execution, stored, engine);
  const common = commonOf(operation, undefined, engine);
  return { tag: "known", outcome: { ...common, status: "not_applied", ...why } };
}

/** As `tellKnown`, of a record that was not compared with this operation's intent yet. */
export const tellRecord = async (
  execution: Execution,
  stored: Stored,
  engine: Engine,
): Promise<Known> =>
  isOfIntent(execution.operation, stored)
    ? tellKnown(execution, stored, engine)
    : otherIntent(execution.operation, engine);

export const otherIntent = (operation: Operation, engine: Engine): Known => ({
  tag: "known",
  outcome: conflict(operation, "other_intent", engine),
});

export async function tellKnown(
  execution: Execution,
  stored: Stored | undefined,
  engine: Engine,
): Promise<Known> {
  const { operation } = execution;
  execution.isAnswered = true;
  execution.first = stored?.record;
  const outcome = await replay(operation, stored, engine);
  if (stored) await noteRepeat(operation, stored, engine);
  return { tag: "known", outcome };
}
