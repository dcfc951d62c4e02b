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
import type { State, Stored } from "../../ledger/record.ts";
import type { Engine } from "../engine.ts";
import { askStore } from "../store-call.ts";
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
    if (named && isNear(named.record.scope, scope)) return told(named);
    const list = engine.ledger.store.list({ tenant, scope, limit: MAX_LISTED });
    const { items } = await askStore(engine, "list", list);
    const met = items.find(
      ({ record }) =>
        record.aliases.includes(asked) || wireKey(record.id, record.generation) === asked,
    );
    return met ? told(met) : nothing(asked);
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

function told({ record }: Stored): StatusReply {
  const { state, id, tool } = record;
  const { outcome, message } = wordsOf(state);
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
      reason: "reason" in state ? state.reason : undefined,
    },
    message,
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

function wordsOf(state: State): Pick<StatusReply, "outcome" | "message"> {
  switch (state.tag) {
    case "committed":
      return { outcome: "committed", message: "It is done. Do not call the tool again for it." };
    case "not_applied":
      return { outcome: "not_applied", message: "It certainly did not happen." };
    case "unknown":
      return {
        outcome: "unknown",
        message: "It may have happened; it could not be found out yet. Do not call the tool again.",
      };
    case "claimed":
      return {
        outcome: "in_progress",
        message: "It is under way and may still land. Do not call the tool again.",
      };
    case "queued":
      return {
        outcome: "in_progress",
        message: "It waits for another write to the same thing. Do not call the tool again.",
      };
    case "held":
      return {
        outcome: "held",
        message:
          "Nothing was sent yet: a person must approve it first. Do not call the tool again.",
      };
    case "denied":
      return { outcome: "denied", message: "A person said no. Nothing was sent." };
  }
}
