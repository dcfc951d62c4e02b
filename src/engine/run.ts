/**
 * The engine: one operation, from claim to outcome. Read this file first.
 *
 *   claim → attempt → classify → read state → next move → settle
 *              ▲                                  │
 *              └──────────────────────────────────┘   fire again, read again
 *
 * Each of the six steps is a file in `steps/`; `steps/parts/` has what steps are made of. No step calls
 * another: `runOperation` below calls claim, and `onePass` the others in this order. The state is read only if an attempt
 * is in doubt and the tool has a reader; with `readFirst`, or with a store that may forget, it is also read before the first
 * attempt. Settle calls the reader, too: for a result that is missing, and after a success of the tool, until one check has
 * said whether the reader can see it.
 * A pass that has sent nothing may end before its attempt (`endBeforeFiring`); its claim is then taken back
 * (`steps/parts/withdraw.ts`), unless a read has found the effect.
 *
 * What one step leaves for the next is in `owned` (`steps/parts/ownership.ts`): what was learned of the attempts, the last read
 * of the state, the licence to fire in the next pass, and the results. An attempt and a final decision are passed on as
 * values. What others in this process must see of it while it runs is on `execution` (`operation/operation.ts`). What outlives the execution is in the engine (`engine.ts`): `live`, `calledBy`, `budgets`,
 * `endedHere`, `unrecorded` and `tenantState.found`; and on the tool, what was `learned` of it.
 *
 * The whole way of a call whose reply was lost; `holdfire.ts`, `gate/`, `ledger/`, `classify/`, `wire/` and `reconcile/` are in
 * `src/`, all other paths in `src/engine/`:
 *
 *   define      holdfire.ts → define/define-tool.ts
 *   call        call/guarded-tool.ts → call/name-operation.ts, which names the operation
 *               call/guarded-tool.ts → call/join.ts, which is handed `runOperation` → here
 *   claim       steps/claim.ts → gate/gate.ts, which is asked first
 *               steps/claim.ts → claim-terms.ts → ledger/ledger.ts → ledger/moves/apply.ts → ledger/moves/claim-moves.ts,
 *               which decides the claim; then ledger/ledger.ts → ledger/swapper.ts → the store, which writes it
 *   attempt     steps/attempt.ts → steps/parts/prepare-attempt.ts, which decides whether anything is fired
 *               steps/attempt.ts → fire-once.ts → the tool's own run, with what attempt-context.ts makes for it; what it
 *               sends by its context's `fetch` goes by wire/bound-fetch.ts → wire/guarded-fetch.ts; by whatever HTTP client, it
 *               is seen by wire/observe-requests.ts and counted by wire/counter.ts; wire/token.ts tells the way between
 *   classify    steps/classify-attempt.ts → `judge` in classify/classify.ts → classify/thrown.ts, which reads the error: after a reset
 *               it is unknown, whatever statuses the wire saw, unless the wire shows that nothing left, or the tool's `classify`
 *               says otherwise; an attempt whose time is up is unknown without it
 *   read state  steps/read-state.ts → reader.ts → the tool's own readState; → same-intent.ts, where it was found without the
 *               key: that says whose it may be; an effect with an id is assigned to the operation in the store
 *   next move   steps/next-move.ts → steps/parts/situation.ts, which makes what is decided on
 *               steps/next-move.ts → steps/parts/decide.ts, which is pure
 *               backoff.ts and budget.ts say how long the pause after it is; next-move.ts itself, where a read must not begin
 *               before a certain time
 *   settle      steps/settle.ts → steps/parts/settled-state.ts, which makes the state to write
 *               steps/settle.ts → ledger/ledger.ts → the store
 *               steps/settle.ts → outcome/build.ts, which makes the outcome
 *   result      call/join.ts, where each caller waits → outcome/result.ts, which makes what each caller gets
 *               call/guarded-tool.ts → outcome/error-of.ts, which makes the errors
 *
 * If the process dies after the send, the record stays `claimed`. Once its lease has lapsed, the next call of the
 * operation (`steps/claim.ts`), or `reconcile/settle-one.ts`, takes it over (case `claimed` of `claim` in
 * ledger/moves/claim-moves.ts), without a licence: its first pass reads the state if it can, and fires nothing.
 *
 * Where a step returns `X | Promise<X>`, that is only for speed: a plain call then costs no extra microtasks. Both ways
 * give the same answer.
 *
 * `passes.ts` is the loop around the passes. Files beside `steps/` have other users, too: reads and model calls use `passes.ts`,
 * `fire-once.ts` and `backoff.ts`, and model calls `budget.ts`; model calls, the gate and reconcile use `claim-terms.ts`; replay
 * (`outcome/replay.ts`) and reconcile use `reader.ts`. Of `steps/`, reconcile uses settle, ownership and withdraw, and the gate
 * uses wait-for-change and claim-needs.
 *
 * @module
 */

import { LeaseLostError } from "../errors.ts";
import { instantOf } from "../lang/clock.ts";
import { type Engine, inBackground } from "./engine.ts";
import type { Execution } from "./operation/operation.ts";
import type { Outcome } from "./operation/outcome.ts";
import { type Pass, repeat } from "./passes.ts";
import { attemptEffect, type Late } from "./steps/attempt.ts";
import { claimOperation } from "./steps/claim.ts";
import { classifyAttempt } from "./steps/classify-attempt.ts";
import { endBeforeFiring, type Next, nextMove, pause, readsFirst } from "./steps/next-move.ts";
import { fileLateReply } from "./steps/parts/late.ts";
import { keepLease } from "./steps/parts/lease.ts";
import type { Owned } from "./steps/parts/ownership.ts";
import { stopSlowAttempts } from "./steps/parts/still-running.ts";
import { withdrawAndTell } from "./steps/parts/withdraw.ts";
import { readState, shouldReadState } from "./steps/read-state.ts";
import { settle } from "./steps/settle.ts";
import { withinDeadline } from "./store-call.ts";

export async function runOperation(
  execution: Execution,
  engine: Engine,
): Promise<Outcome<unknown>> {
  const claim = await claimOperation(
    execution,
    withinDeadline(engine, () => execution.remainingMs()),
  );
  return claim.tag === "known" ? claim.outcome : await conclude(claim.owned, engine);
}

/** From a claim to an outcome. Reconcile passes a settle of its own, which leaves the record as it is if nothing new was learned. */
export async function conclude(
  owned: Owned,
  engine: Engine,
  settleWith: typeof settle = settle,
): Promise<Outcome<unknown>> {
  const stopRenewing = keepLease(owned, engine);
  try {
    const pass = () => onePass(owned, engine, settleWith);
    return await repeat(pass, (waitMs) => pause(owned, waitMs, engine));
  } catch (error) {
    // Whatever goes wrong here, a write that may have been sent ends in an outcome. Thrown all the same is only that the
    // commit could not join the transaction of the user's (`mustJoin` in `steps/settle.ts`), which is undone.
    if (!mayHaveSent(owned) || error instanceof LeaseLostError) throw error;
    engine.events.emit("store", () => ({ status: "error", step: "run", error }));
    const left = await settle(owned, { do: "leave_unknown", reason: "cannot_tell" }, engine);
    if (left.tag === "done") return left.value;
    // Only what claims that nothing happened is refused for a record that has changed.
    throw error;
  } finally {
    owned.active = false;
    if (owned.resendAt !== undefined) engine.budgets.putBack(owned.operation.tool.service);
    stopRenewing();
    stopSlowAttempts(owned);
  }
}

/** True also where only an earlier owner may have sent it; but then not for reconcile, which tells its own failures. */
const mayHaveSent = ({ fires, execution }: Owned): boolean =>
  fires > 0 || (execution.sent && execution.fireMode === "freely");

async function onePass(
  owned: Owned,
  engine: Engine,
  settleWith: typeof settle,
): Promise<Pass<Outcome<unknown>>> {
  if (readsFirst(owned, engine)) await readState(owned, engine);
  const now = instantOf(engine.clock);
  const ended = endBeforeFiring(owned, now, engine);
  if (ended) return await makeMove(owned, ended, engine, settleWith);

  // Without a licence nothing is fired: such a pass only reads.
  const attempted = await attemptEffect(owned, now, engine);
  const classifying = attempted && classifyAttempt(owned, attempted, engine);
  if (classifying instanceof Promise) await classifying;
  if (attempted?.late) whenLate(owned, attempted.late, engine);
  if (shouldReadState(owned)) await readState(owned, engine);

  return await makeMove(owned, nextMove(owned, engine), engine, settleWith);
}

/** Makes the next move: settles or withdraws, which ends the loop, or asks for another pass. */
function makeMove(
  owned: Owned,
  next: Next,
  engine: Engine,
  settleWith: typeof settle,
): Pass<Outcome<unknown>> | Promise<Pass<Outcome<unknown>>> {
  switch (next.tag) {
    case "settle":
      return settleWith(owned, next.final, engine);
    case "withdraw":
      return withdrawAndTell(owned, next.status, engine).then((value) => ({ tag: "done", value }));
    case "fire":
      owned.licence = next.licence;
      return { tag: "wait", waitMs: next.waitMs };
    case "look_again":
      return { tag: "wait", waitMs: next.waitMs };
  }
}

/** The reply of an attempt whose time was up: evidence, whenever it comes. */
function whenLate(owned: Owned, late: Late, engine: Engine): void {
  inBackground(engine, async () => {
    // Whatever it has done was undone with its transaction.
    if (engine.enlisted) return;
    const update = await classifyAttempt(owned, await late, engine, "late");
    await fileLateReply(owned, update, engine);
  });
}
