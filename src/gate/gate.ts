/**
 * All that stands between an operation and its claim, in order: drift, a person's yes, the lane.
 *
 * @module
 */

import type { Admission, Engine, Gate, Visit } from "../engine/engine.ts";
import type { Execution, Operation } from "../engine/operation/operation.ts";
import { askStore } from "../engine/store-call.ts";
import { type ApprovalGate, approvalGate, type GateOptions } from "./ask-person.ts";
import { type Drift, doneSince, findDrift } from "./drift.ts";
import { admitToLane, leaveQueue } from "./lane.ts";
import { planCall } from "./plan-call.ts";
import { createSiblingWrites } from "./sibling-writes.ts";
import { createToldOpen } from "./told-open.ts";

export function gateOf(options: GateOptions): Gate {
  const approval = approvalGate(options);
  const compared = { siblings: createSiblingWrites(), toldOpen: createToldOpen() };

  /** Looks for drift, asks a person where that or the tool calls for it, and gives up what the call passes in place of. */
  async function askPerson(execution: Execution, engine: Engine, visit: Visit): Promise<Admission> {
    const { operation } = execution;
    const passed = new Map<string, Drift["why"]>();
    let admission: Admission | undefined;
    for (;;) {
      const drift = await findDrift(execution, compared, passed, engine);
      if (drift && operation.tool.onDrift === "refuse") return { tag: "denied", by: "onDrift" };
      if (!drift && admission) {
        const others = await abandonOthers(passed, operation, engine);
        if (others === "busy") return { tag: "held", reason: "drift" };
        if (others === "abandoned") return admission;
        passed.clear();
        admission = undefined;
        continue;
      }
      const asked = drift ?? (await askedBefore(execution, engine, visit));
      const admitted = await approval.admit(execution, engine, asked);
      if (admitted.tag !== "pass" || admitted.spend === undefined) return admitted;
      if (!drift) return inPlaceOf(admitted, execution, engine, approval);
      // Each that it drifts from has its own question, and its own yes.
      passed.set(drift.from, drift.why);
      admission = admitted;
    }
  }

  async function ask(execution: Execution, engine: Engine, visit: Visit): Promise<Admission> {
    for (;;) {
      const admission = await askPerson(execution, engine, visit);
      if (admission.tag !== "pass") return admission;
      const { waited, ...entry } = await admitToLane(execution, engine, visit);
      if (entry.tag !== "pass") return entry;
      // Another operation wrote meanwhile: what a person agreed to, or would have, may have changed.
      if (!waited) return { ...admission, ...entry };
    }
  }

  return {
    admit(execution, engine, visit) {
      if (isAsked(execution, visit)) return ask(execution, engine, visit);
      compared.toldOpen.warn(execution.operation, engine);
      return PASS;
    },
    toldOpen: (operation, engine) => compared.toldOpen.add(operation, engine),
    plan: planCall,
    leave: leaveQueue,
  };
}

const PASS: Admission = { tag: "pass" };

/**
 * There is nothing to ask for a plain call by code. There is if the tool is destructive or has a version, if the call names a
 * resource or comes from a model (`step`, which every `reply` has), if its caller names operations that it may be in other
 * words (`mayReword`), or if a person was asked already.
 */
const isAsked = ({ operation: { tool, draft } }: Execution, { held }: Visit): boolean =>
  tool.kind === "destructive" ||
  tool.version !== undefined ||
  tool.mayReword.length > 0 ||
  draft.identity.resource !== undefined ||
  draft.identity.step !== undefined ||
  held === true;

/**
 * The yes was given for a call that drifted, and this one does not: it is made by code and not by a model, or what it
 * drifted from is settled by now. What is still open is abandoned all the same; that is what the person agreed to. Of one
 * that is done they were to know: in its place is not beside it.
 */
async function inPlaceOf(
  admitted: Extract<Admission, { tag: "pass" }>,
  execution: Execution,
  engine: Engine,
  approval: ApprovalGate,
): Promise<Admission> {
  const { insteadOf: id } = admitted;
  if (id === undefined) return admitted;
  const { operation } = execution;
  const others = await abandonOthers(new Map([[id, "unsettled"]]), operation, engine);
  if (others === "busy") return { tag: "held", reason: "drift" };
  if (others === "abandoned") return admitted;
  const { tenant } = operation.ref;
  const other = await askStore(engine, "drift", engine.ledger.read({ tenant, id }));
  const done = other && doneSince(other, engine);
  return done ? approval.admit(execution, engine, done) : admitted;
}

/**
 * A person lets the operation pass in the place of those that are open, and they are never fired again. Before the claim: a crash
 * in between leaves them abandoned, and nothing fired in their place.
 */
async function abandonOthers(
  passed: ReadonlyMap<string, Drift["why"]>,
  { ref }: Operation,
  engine: Engine,
): Promise<"abandoned" | "busy" | "settled"> {
  const { tenant, id: instead } = ref;
  const { ledger } = engine;
  for (const [id, drift] of passed) {
    if (drift !== "unsettled" && drift !== "committed_since") continue;
    const shownDone = drift === "committed_since";
    const move = { move: "abandon", instead, shownDone, at: ledger.clock.latest() } as const;
    const moved = await askStore(engine, "abandon", ledger.move({ tenant, id }, move));
    const why = moved.tag === "refused" ? moved.why : undefined;
    // What is held was not sent, and what is gone was settled long ago.
    if (why === "busy" || why === "settled") return why;
  }
  return "abandoned";
}

/** The question stands also where what it was about is settled by now: a person answers it. */
async function askedBefore(
  { operation }: Execution,
  engine: Engine,
  visit: Visit,
): Promise<"asked" | undefined> {
  if (!visit.held) return undefined;
  const stored = await askStore(engine, "gate", engine.ledger.read(operation.ref));
  const state = stored?.record.state;
  return state?.tag === "held" && state.ask.why === "drift" ? "asked" : undefined;
}
