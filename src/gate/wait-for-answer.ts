/**
 * `hf.approvals.wait`: waits for a person's answer to a question, whichever process takes it.
 *
 * @module
 */

import { checkOptions, positive } from "../engine/define/check.ts";
import type { Engine } from "../engine/engine.ts";
import { waitForRecord } from "../engine/steps/parts/wait-for-change.ts";
import { askStore, inStoreTime } from "../engine/store-call.ts";
import { ClosedError, InvalidInputError } from "../errors.ts";
import { type Decision, decisionOn, tellDecision } from "./decision.ts";

export interface WaitOptions {
  /** Stops waiting: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait, in milliseconds; a question that is then still open is `asked`. @default until it expires */
  readonly deadlineMs?: number | undefined;
}

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
  for (let tries = 0; ; tries += 1) {
    const decision = stored && decisionOn(stored.record, engine);
    if (!stored || !decision) throw new InvalidInputError(`operation ${id}`, NO_QUESTION);
    tellDecision(engine, stored.record, decision);
    const leftMs = deadlineAt - clock.monotonic();
    if (decision.status !== "asked" || leftMs <= 0) return decision;
    await waitForRecord({ tenant, id }, tries, leftMs, signal, engine);
    signal?.throwIfAborted();
    if (engine.isClosed()) throw new ClosedError();
    const read = await inStoreTime(engine, ledger.read({ tenant, id }));
    // A store that does not answer for a while is not a person's answer.
    if (read.tag === "done") stored = read.value;
  }
}

const NO_QUESTION = "is not waiting for approval; hf.approvals.list() has those that are.";
