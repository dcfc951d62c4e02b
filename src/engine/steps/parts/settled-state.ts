/**
 * The state that a final decision is written down as: what was committed and with which result, why not, or why
 * unknown.
 *
 * @module
 */

import { isResponse } from "../../../classify/answer.ts";
import { isCleared, type State } from "../../../ledger/record.ts";
import { effectOf } from "../../define/effect.ts";
import type { Reading } from "../../define/reading.ts";
import type { Engine } from "../../engine.ts";
import { about } from "../../operation/operation.ts";
import { storedResult } from "../../outcome/replay.ts";
import { payloadOf, type Result } from "../../outcome/result.ts";
import { askReader, type Sought } from "../../reader.ts";
import { inStoreTime } from "../../store-call.ts";
import type { Final } from "../next-move.ts";
import { carriedKey } from "./decide.ts";
import { type Owned, resultOf } from "./ownership.ts";

export type Settled = Extract<State, { tag: "committed" | "not_applied" | "unknown" }>;

export function stateFor(
  owned: Owned,
  final: Final,
  result: Result | undefined,
  engine: Engine,
): Settled {
  const { operation } = owned;
  switch (final.do) {
    case "leave_unknown": {
      const yes = owned.attempts.findLast(({ unverified }) => unverified);
      const unverified = yes && resultOf(owned, yes.n);
      const payload = unverified && payloadOf(operation, unverified, engine);
      return { tag: "unknown", reason: final.reason, payload };
    }
    case "not_applied": {
      const { reason } = final;
      const keyRejected = reason === "rejected" && isRejectionOfKey(owned);
      return { tag: "not_applied", reason, rejection: owned.rejection, keyRejected };
    }
    case "commit": {
      const { attempt } = final;
      const { effect, effectId } = effectOf(operation.tool, result?.value);
      const found = attempt === undefined ? owned.lastRead?.found : undefined;
      const foundId = found?.reading === "committed" ? found.effectId : undefined;
      return {
        tag: "committed",
        via: attempt === undefined ? "read" : "reply",
        attempt,
        payload: filedPayload(owned, attempt) ?? (result && payloadOf(operation, result, engine)),
        effect: isFoundUnfired(owned) ? "noop" : effect,
        effectId: foundId ?? effectId,
      };
    }
  }
}

/** What was found is not this call's own: it has fired nothing, and no earlier attempt may have done it. */
const isFoundUnfired = ({ fires, attempts }: Owned): boolean =>
  fires === 0 && attempts.every(isCleared);

/**
 * The keyed service itself said no to this very key. An earlier request with the key is over: it was proved absent, and
 * should it arrive after all, it gets the same no. One without the key gets none.
 */
function isRejectionOfKey({ attempts, operation, stored }: Owned): boolean {
  const ofKey = attempts.filter(({ generation }) => generation === stored.record.generation);
  const last = ofKey.at(-1);
  return (
    operation.tool.keyedForMs !== undefined &&
    last?.status !== undefined &&
    last.status !== 412 &&
    !ofKey.some((attempt) => attempt.cleared === "absent" && !carriedKey(attempt))
  );
}

/** What an owner that lost the operation saw of it, and filed. */
const filedPayload = ({ stored: { record } }: Owned, attempt: number | undefined) =>
  record.evidence.find((seen) => seen.verdict === "committed" && seen.attempt === attempt)?.payload;

/** Marks the effect of a reply as this operation's, so that no other reader takes it for its own. */
export function withEffectAssigned(
  owned: Owned,
  state: Settled,
  engine: Engine,
): Settled | Promise<Settled> {
  if (state.tag !== "committed" || state.via !== "reply" || state.effectId === undefined) {
    return state;
  }
  return assignEffect(owned, state, state.effectId, engine);
}

async function assignEffect(
  { operation }: Owned,
  state: Extract<Settled, { tag: "committed" }>,
  effectId: string,
  engine: Engine,
): Promise<Settled> {
  const { ref, tool } = operation;
  const asked = engine.ledger.store.own(ref.tenant, tool.service, effectId, ref.id);
  const owner = await inStoreTime(engine, asked);
  if (owner.tag !== "done" || owner.value === ref.id) return state;
  const other = owner.value;
  const found = await inStoreTime(engine, engine.ledger.read({ ...ref, id: other }));
  const taken = found.tag === "done" ? found.value?.record.state : undefined;
  // Several operations may be answered with one thing. One that only found it had no answer of its own.
  if (taken?.tag === "committed" && taken.via === "read") {
    engine.events.emit("warning", () => ({
      ...about(operation),
      code: "effect_mistaken",
      effectId,
      other,
    }));
  }
  return { ...state, effectId: undefined };
}

/** What the attempt returned, or the last read found; `undefined` if neither is whole. */
export function resultAtHand(owned: Owned, attempt: number | undefined): Result | undefined {
  if (attempt === undefined) return owned.lastRead && foundIn(owned.lastRead.found);
  const result = resultOf(owned, attempt);
  return result && (result.kept || result.isUnread || !isResponse(result.value))
    ? result
    : undefined;
}

/** It is done, but which effect is its own is not known yet: it may take the one that is found. */
const SOUGHT: Sought = { tag: "may_take" };

/** A result that is missing was filed by the owner that saw it, or is asked for once more. */
export async function missingResult(
  owned: Owned,
  attempt: number | undefined,
  engine: Engine,
): Promise<Result | undefined> {
  if (attempt === undefined) return undefined;
  const { operation, stored } = owned;
  const { tool } = operation;
  const payload = filedPayload(owned, attempt);
  const filed = payload && storedResult(operation, payload, engine);
  if (filed?.ok) return { value: filed.value };
  const found = tool.readState
    ? foundIn(await askReader(operation, stored.record, tool.readTimeoutMs, engine, SOUGHT))
    : undefined;
  const why = resultOf(owned, attempt) ? "the body broke off" : "there was no result";
  if (!found) {
    engine.events.emit("warning", () => ({ ...about(operation), code: "payload_lost", why }));
  }
  return found;
}

function foundIn(reading: Reading<unknown>): Result | undefined {
  if (reading.reading === "committed") return { value: reading.result };
  return reading.reading === "duplicated" ? { value: reading.results[0] } : undefined;
}
