/**
 * All that stands between an operation and its claim, in order: drift, a person's yes, the lane.
 *
 * @module
 */

import type { Admission, Engine, Gate, Visit } from "../engine/engine.ts";
import type { Execution } from "../engine/operation/operation.ts";
import { askStore } from "../engine/store-call.ts";
import { approvalGate, type GateOptions } from "./approval.ts";
import { type Drift, findDrift } from "./drift.ts";
import { admitToLane, leaveQueue } from "./lane.ts";
import { planCall } from "./plan-call.ts";
import { createSiblingWrites } from "./sibling-writes.ts";

export function gateOf(options: GateOptions): Gate {
  const approval = approvalGate(options);
  const siblings = createSiblingWrites();

  async function askPerson(execution: Execution, engine: Engine, visit: Visit): Promise<Admission> {
    const drift = await findDrift(execution, siblings, engine);
    if (drift && execution.operation.tool.onDrift === "refuse") {
      return { tag: "denied", by: "onDrift" };
    }
    return approval.admit(
      execution,
      engine,
      drift ?? (await askedBefore(execution, engine, visit)),
    );
  }

  async function ask(execution: Execution, engine: Engine, visit: Visit): Promise<Admission> {
    for (;;) {
      const leave = await askPerson(execution, engine, visit);
      if (leave.tag !== "pass") return leave;
      const { waited, ...entry } = await admitToLane(execution, engine, visit);
      if (entry.tag !== "pass") return entry;
      // Another operation wrote meanwhile: what a person agreed to, or would have, may have changed.
      if (!waited) return { ...leave, ...entry };
    }
  }

  return {
    admit: (execution, engine, visit) =>
      isAsked(execution, visit) ? ask(execution, engine, visit) : PASS,
    plan: planCall,
    leave: leaveQueue,
  };
}

const PASS: Admission = { tag: "pass" };

/** Most tools neither destroy anything nor name a resource or a version: there is nothing to ask. */
const isAsked = ({ operation: { tool, draft } }: Execution, { held }: Visit): boolean =>
  tool.kind === "destructive" ||
  tool.version !== undefined ||
  draft.identity.resource !== undefined ||
  held === true;

/** The question stands also where what it was about is settled by now: a person answers it. */
async function askedBefore(
  { operation }: Execution,
  engine: Engine,
  visit: Visit,
): Promise<"asked" | Drift | undefined> {
  if (!visit.held) return undefined;
  const stored = await askStore(engine, "gate", engine.ledger.read(operation.ref));
  const state = stored?.record.state;
  return state?.tag === "held" && state.ask.why === "drift" ? "asked" : undefined;
}
