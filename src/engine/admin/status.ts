/**
 * Looks up one operation for the model that asked for it: in its own tenant, and in its own scope or
 * another turn of the same thread.
 *
 * @module
 */

import { InvalidInputError, MissingScopeError } from "../../errors.ts";
import { checkAlias } from "../../key/check-name.ts";
import { wireKey } from "../../key/mint.ts";
import { resolveScope } from "../../key/scope.ts";
import { threadOf } from "../../key/turn.ts";
import { peek } from "../../lang/peek.ts";
import { isOpen, type OperationRecord, type Stored } from "../../ledger/record.ts";
import type { Engine } from "../engine.ts";
import { commonFrom, type OutcomeOfRecord, outcomeOf } from "../outcome/build.ts";
import { toldNow } from "../outcome/replay.ts";
import {
  checkerOf,
  deniedWords,
  heldWords,
  inProgressWords,
  notAppliedWords,
  unknownWords,
} from "../outcome/words.ts";
import { askStore, inStoreTime, listEveryRecord } from "../store-call.ts";
import type { LookUp, StatusReply } from "./status-tool.ts";

/** One page: a scope is one request of a person, and no list for a model is endless. */
const MAX_LISTED = 1_000;

export const lookUpIn =
  (engine: Engine): LookUp =>
  async (question, explicit) => {
    const asked = checkAsked(question);
    const scope = resolveScope(explicit)?.id;
    if (scope === undefined) throw new MissingScopeError("operation_status");
    await askStore(engine, "open", engine.ledger.open());
    const { tenant } = engine;
    const named = await askStore(engine, "read", engine.ledger.read({ tenant, id: asked }));
    if (named && isNear(named.record.scope, scope)) return statusReply(named, engine);
    const { items } = await listEveryRecord(engine, { scope, limit: MAX_LISTED });
    const met = items.find(
      ({ record }) =>
        record.aliases.includes(asked) || wireKey(record.id, record.generation) === asked,
    );
    return met ? statusReply(met, engine) : nothing(asked);
  };

/** A model may ask for anything; a store is asked only for what could be a name. */
function checkAsked(question: unknown): string {
  try {
    return checkAlias(peek(question, "operation"));
  } catch {
    throw new InvalidInputError("args.operation", "must be the operation of an earlier reply.");
  }
}

/** The same request, or another one of the same conversation. */
function isNear(scope: string, asking: string): boolean {
  const thread = threadOf(asking);
  return scope === asking || (thread !== undefined && threadOf(scope) === thread);
}

async function statusReply({ record }: Stored, engine: Engine): Promise<StatusReply> {
  const { state, id, tool, tenant } = record;
  // Its caller is told now: the same intent in a later turn is then a new operation, not a replay of this one.
  if (record.untold && !isOpen(state)) {
    const meet = { move: "meet", told: state.tag, aliases: [] } as const;
    await inStoreTime(engine, engine.ledger.move({ tenant, id }, meet));
  }
  const now = outcomeNow(record, engine);
  const { status: outcome } = now;
  return {
    ok: outcome === "committed",
    outcome,
    effect: state.tag === "committed" ? state.effect : undefined,
    replayed: true,
    operation: id,
    data: {
      tool,
      key: wireKey(id, record.generation),
      attempts: record.fired,
      since: new Date(record.stateAt).toISOString(),
      reason: "reason" in now && "reason" in state ? now.reason : undefined,
    },
    message: wordsOf(now, record, engine),
  };
}

const nothing = (operation: string): StatusReply => ({
  ok: false,
  outcome: "not_found",
  replayed: true,
  operation,
  message:
    "No operation of this conversation has that name. This does not show that nothing happened.",
});

/** What the record stands for now: an attempt that was running when it was written may have ended since. */
function outcomeNow(record: OperationRecord, engine: Engine): OutcomeOfRecord {
  const { tool, id, generation, state, stateAt: at } = record;
  const common = commonFrom({ tool, id, key: wireKey(id, generation) }, { at });
  return outcomeOf(common, state, record, engine, toldNow(record, engine));
}

function wordsOf(now: OutcomeOfRecord, { tool }: OperationRecord, engine: Engine): string {
  switch (now.status) {
    case "committed":
      return "It is done. Do not call the tool again for it.";
    case "not_applied":
      return notAppliedWords(now);
    case "unknown":
      return unknownWords(now, checkerOf(tool, engine));
    case "in_progress":
      return inProgressWords(now);
    case "held":
      return heldWords(now);
    case "denied":
      return deniedWords(now);
  }
}
