/**
 * A person's answer, filed; what became of the question, as the record says; and the event that tells of it, once in each
 * process.
 *
 * @module
 */

import type { Engine } from "../engine/engine.ts";
import { askStore } from "../engine/store-call.ts";
import { checkNote, checkPerson } from "../key/check-name.ts";
import { wireKey } from "../key/mint.ts";
import { showScope } from "../key/scope.ts";
import { addBounded } from "../lang/bounded.ts";
import type { Moved, Ref } from "../ledger/ledger.ts";
import { type Answer, hasExpired, isApproved } from "../ledger/moves/approval-question.ts";
import type { OperationRecord } from "../ledger/record.ts";

/** A person's answer. `by` is their name. */
export interface ApprovalAnswer {
  readonly approve: boolean;
  readonly by: string;
  readonly note?: string | undefined;
}

/** What became of a question. */
export type Decision =
  | {
      readonly status: "approved" | "denied";
      /** The person's name. */
      readonly by: string;
      readonly note?: string | undefined;
    }
  /** No answer came in time, or a yes was not used in time. The call, made again, asks again. */
  | { readonly status: "expired" }
  /** It is still open. */
  | { readonly status: "asked" };

/** `undefined`: no person was asked about it. */
export function decisionOn(
  record: OperationRecord,
  { ledger, clock }: Pick<Engine, "ledger" | "clock">,
): Decision | undefined {
  const { state } = record;
  if (state.tag === "denied") return { status: "denied", by: state.by, note: state.note };
  if (state.tag !== "held") {
    // The call was made again, and has used the yes.
    const yes = record.answers && yesIn(record.answers);
    return yes && { status: "approved", by: yes.by, note: yes.note };
  }
  const { ask } = state;
  if (hasExpired(ask, ledger.clock.latest(), clock.now())) return { status: "expired" };
  const yes = isApproved(ask) ? yesIn(ask.answers) : undefined;
  return yes ? { status: "approved", by: yes.by, note: yes.note } : { status: "asked" };
}

/** Files a person's answer, and tells of the decision if there is one by it. A yes has a name under it. */
export async function fileAnswer(
  { approve, by, note }: ApprovalAnswer,
  digest: string,
  ref: Ref,
  engine: Engine,
): Promise<Moved> {
  checkPerson(by);
  checkNote(note);
  const { ledger } = engine;
  await askStore(engine, "open", ledger.open());
  const at = ledger.clock.latest();
  const skew = ledger.clock.skew();
  const move = { move: "answer", digest, approve, by, note, at, skew } as const;
  const moved = await askStore(engine, "answer", ledger.move(ref, move));
  const record = moved.tag === "moved" ? moved.stored?.record : undefined;
  if (record) tellDecision(engine, record, decisionOn(record, engine));
  return moved;
}

const yesIn = (answers: readonly Answer[]): Answer | undefined =>
  answers.findLast(({ approve, counted }) => approve && counted);

/** Decisions that listeners have heard of and that are remembered, of a tenant. */
const MOST_HEARD = 1_000;

/** Tells listeners of a decision that this process has made, or has come to know of: once. */
export function tellDecision(
  engine: Engine,
  record: OperationRecord,
  decision: Decision | undefined,
): void {
  if (!decision || decision.status === "asked") return;
  const { heard } = engine.tenantState;
  const name = nameOf(record, decision);
  if (heard.has(name)) return;
  addBounded(heard, name, MOST_HEARD);
  const { id, tool, tenant, scope, generation, state } = record;
  engine.events.emit("approval", () => ({
    ...{ tool, id, key: wireKey(id, generation), tenant, scope: showScope(scope) },
    status: decision.status,
    why: state.tag === "held" ? state.ask.why : undefined,
    by: "by" in decision ? decision.by : undefined,
  }));
}

/** One question has one decision; an operation may have had several questions. */
function nameOf({ id, state, answers }: OperationRecord, { status }: Decision): string {
  if (status === "denied") return `${id} denied`;
  const held = state.tag === "held" ? state.ask : undefined;
  if (status === "expired") return `${id} expired ${held?.digest}`;
  return `${id} approved ${yesIn(held?.answers ?? answers ?? [])?.at}`;
}
