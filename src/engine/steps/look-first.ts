/**
 * `readFirst`: looks before the first attempt. What is there already is not sent again.
 *
 * @module
 */

import type { Engine } from "../engine.ts";
import type { Outcome } from "../outcome/outcome.ts";
import { forget, type Owned } from "./ownership.ts";
import { readState } from "./read-state.ts";
import { settle } from "./settle.ts";
import { withdrawn } from "./withdraw.ts";

/** An outcome if nothing needs to be sent. */
export async function lookFirst(
  owned: Owned,
  engine: Engine,
): Promise<Outcome<unknown> | undefined> {
  const { tool } = owned.operation;
  if (!tool.readFirst || !tool.readState || owned.licence !== "first") return undefined;
  await readState(owned, engine);
  const reading = owned.look?.reading;
  if (reading === "committed" || reading === "duplicated") {
    forget(owned, owned.stored.record.fired);
    return settle(owned, { do: "commit", attempt: undefined }, engine);
  }
  // Somebody is at it already: nothing is sent, and the next call looks again.
  if (reading === "in_progress") {
    const outcome = await withdrawn(owned, engine);
    if (outcome.status !== "not_applied") return outcome;
    const { reason: _, ...common } = outcome;
    return { ...common, status: "in_progress" };
  }
  return undefined;
}
