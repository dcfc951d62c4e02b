/**
 * `tool.plan`: tells of a call without making it. Nothing is sent, and nothing is written down.
 *
 * @module
 */

import { nameOperation } from "../engine/call/name-operation.ts";
import { wouldFire } from "../engine/claim-terms.ts";
import type { Plan, PlannedChange } from "../engine/define/definition.ts";
import type { PlannedCall, PlannedEffect } from "../engine/define/planned-call.ts";
import type { Tool } from "../engine/define/tool.ts";
import type { Engine } from "../engine/engine.ts";
import type { Caller } from "../engine/operation/operation.ts";
import { factsOf, type NamedCallOptions, type Operation } from "../engine/operation/operation.ts";
import { askStore } from "../engine/store-call.ts";
import type { Canonical } from "../key/canonical.ts";
import type { Json } from "../key/json.ts";
import { resolveScope } from "../key/scope.ts";
import { withTimeLimit } from "../lang/clock.ts";
import type { OperationRecord } from "../ledger/record.ts";
import { diffOf, diffText } from "./diff.ts";
import { makePlan, whyNoPlan } from "./plan.ts";

export async function planCall(
  tool: Tool,
  args: Canonical,
  options: NamedCallOptions,
  { signal, deadlineMs }: Caller,
  engine: Engine,
): Promise<PlannedCall> {
  signal?.throwIfAborted();
  const operation = named(tool, args, options, engine);
  const record = operation && (await recordOf(operation, engine));
  const known = record && operation && knownEffect(record, operation, engine);
  const plan = known ? undefined : await makePlanInTime(tool, args.value, deadlineMs, engine);
  const changes = plan?.changes ?? [];
  const effect = known ?? effectOf(tool, plan);
  const needsApproval = tool.kind === "destructive" && !known;
  return {
    tool: tool.name,
    effect,
    changes,
    diff: diffText(diffOf(changes)),
    alsoDoes: tool.alsoDoes,
    args: args.value,
    needsApproval,
    id: operation?.ref.id,
    key: operation && factsOf(operation, record?.generation).key,
    known: record?.state.tag,
    message: `${WORDS[effect]}${needsApproval ? " A person must say yes first." : ""}`,
  };
}

/** Without a scope it is no operation yet, and a plan needs none. */
function named(
  tool: Tool,
  args: Canonical,
  options: NamedCallOptions,
  engine: Engine,
): Operation | undefined {
  if (tool.kind === "read") return undefined;
  if (options.key === undefined && !resolveScope(options.scope)) return undefined;
  return nameOperation(tool, args, options, engine);
}

async function recordOf(
  operation: Operation,
  engine: Engine,
): Promise<OperationRecord | undefined> {
  await askStore(engine, "open", engine.ledger.open());
  return (await askStore(engine, "plan", engine.ledger.read(operation.ref)))?.record;
}

function knownEffect(
  record: OperationRecord,
  operation: Operation,
  engine: Engine,
): PlannedEffect | undefined {
  if (wouldFire(record, operation, engine)) return undefined;
  const { tag } = record.state;
  return tag === "claimed" || tag === "unknown" ? "would_look" : "would_replay";
}

async function makePlanInTime(
  tool: Tool,
  args: Json,
  deadlineMs: number,
  engine: Engine,
): Promise<Plan | undefined> {
  const inTime = await withTimeLimit(engine.clock, deadlineMs, makePlan(tool, args));
  if (inTime.tag === "done") return inTime.value;
  throw whyNoPlan(inTime, tool);
}

const EFFECTS = {
  create: "would_create",
  update: "would_update",
  delete: "would_delete",
} as const satisfies Record<PlannedChange["type"], PlannedEffect>;

function effectOf({ kind }: Tool, plan: Plan | undefined): PlannedEffect {
  if (!plan) return kind === "read" ? "would_do_nothing" : "would_send";
  const [first, ...others] = new Set(plan.changes.map(({ type }) => type));
  if (first === undefined) return "would_do_nothing";
  return others.length > 0 ? "would_change" : EFFECTS[first];
}

const WORDS: Readonly<Record<PlannedEffect, string>> = {
  would_create: "It would create what the plan lists. Nothing was sent.",
  would_update: "It would update what the plan lists. Nothing was sent.",
  would_delete: "It would delete what the plan lists. Nothing was sent.",
  would_change: "It would change what the plan lists. Nothing was sent.",
  would_do_nothing: "It would change nothing. Nothing was sent.",
  would_send:
    "The tool has no plan: it would send these arguments, and what that changes is not known. Nothing was sent.",
  would_replay: "It is settled already: the call would be answered from the ledger.",
  would_look: "An earlier call of it is not settled: it would first be looked what became of it.",
};
