/**
 * Waits for a person's answer to a question, whichever process takes it: polls the ledger, and listens where the store
 * can tell.
 *
 * @module
 */

import { checkOptions, positive } from "../engine/define/check.ts";
import type { Engine } from "../engine/engine.ts";
import { askStore, inStoreTime } from "../engine/store-call.ts";
import { ClosedError, InvalidInputError } from "../errors.ts";
import { sleep } from "../lang/clock.ts";
import { type Decision, decisionOn, tellDecision } from "./decision.ts";

export interface WaitOptions {
  /** Stops waiting: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait, in milliseconds; a question that is then still open is `asked`. @default until it expires */
  readonly deadlineMs?: number | undefined;
}

const FIRST_POLL_MS = 25;
const LONGEST_POLL_MS = 1_000;

export async function waitForAnswer(
  engine: Engine,
  id: string,
  options: WaitOptions,
): Promise<Decision> {
  checkOptions(options, ["signal", "deadlineMs"], "options");
  const { ledger, tenant, clock } = engine;
  const { signal, deadlineMs } = options;
  if (deadlineMs !== undefined) positive(deadlineMs, "options.deadlineMs");
  const deadlineAt = clock.monotonic() + (deadlineMs ?? Number.POSITIVE_INFINITY);
  signal?.throwIfAborted();
  await askStore(engine, "open", ledger.open());
  let stored = await askStore(engine, "read", ledger.read({ tenant, id }));
  for (let turn = 0; ; turn += 1) {
    const decision = stored && decisionOn(stored.record, engine);
    if (!stored || !decision) throw new InvalidInputError(`operation ${id}`, NO_QUESTION);
    tellDecision(engine, stored.record, decision);
    const leftMs = deadlineAt - clock.monotonic();
    if (decision.status !== "asked" || leftMs <= 0) return decision;
    await pause(engine, id, Math.min(pollMs(turn, engine), leftMs), signal);
    signal?.throwIfAborted();
    if (engine.isClosed()) throw new ClosedError();
    const read = await inStoreTime(engine, ledger.read({ tenant, id }));
    // A store that does not answer for a while is not a person's answer.
    if (read.tag === "done") stored = read.value;
  }
}

const NO_QUESTION = "is not waiting for approval; hf.approvals.list() has those that are.";

const pollMs = (turn: number, { random }: Engine): number =>
  Math.min(FIRST_POLL_MS * 2 ** Math.min(turn, 10), LONGEST_POLL_MS) * (0.5 + random() / 2);

/** Until the record may have changed, the caller leaves, or the time is over. */
async function pause(
  { ledger, tenant, clock }: Engine,
  id: string,
  ms: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const wake = new AbortController();
  const stop = () => wake.abort();
  const unwatch = ledger.store.watch?.(tenant, id, stop);
  signal?.addEventListener("abort", stop, { once: true });
  await sleep(clock, ms, wake.signal);
  signal?.removeEventListener("abort", stop);
  unwatch?.();
}
