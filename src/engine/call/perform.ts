/**
 * One call, once its arguments are frozen: named, boarded and run. Loaded at the first call, so that
 * importing holdfire costs little.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { Canonical } from "../../key/canonical.ts";
import type { Engine, Tool } from "../engine.ts";
import { runRead } from "../loops/read-tool.ts";
import type { Outcome } from "../outcome/outcome.ts";
import { run } from "../run.ts";
import { askStore } from "../store-call.ts";
import { board } from "./execution.ts";
import { type Naming, nameOperation } from "./operation.ts";

/** How long the call may take, and who may end it. */
export interface Bounds {
  readonly signal: AbortSignal | undefined;
  readonly deadlineMs: number;
}

export async function perform(
  tool: Tool,
  args: Canonical,
  options: Naming,
  bounds: Bounds,
  engine: Engine,
): Promise<Outcome<unknown>> {
  if (tool.kind === "read") return runRead(tool, args.value, { ...options, ...bounds }, engine);
  if (!engine.ledger.isOpen()) await askStore(engine, "open", engine.ledger.open());
  checkStore(tool, engine);
  return board(nameOperation(tool, args, options, engine), bounds, engine, run);
}

/** A ledger that may forget cannot protect what nobody could look up afterwards. */
function checkStore(tool: Tool, engine: Engine): void {
  const { promise, name } = engine.ledger.store;
  if (!promise.mayForget || promise.forgettingAccepted) return;
  if (tool.readState || tool.keyedForMs !== undefined || tool.conditional) return;
  throw new InvalidInputError(
    `tool "${tool.name}"`,
    `is neither keyed nor readable, and the ${name} store may forget that it was sent. Declare keyed or readState, use a store that lasts, or accept it by name ({ forgets: "accepted" })`,
  );
}
