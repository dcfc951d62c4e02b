/**
 * `hf.reconcileEvery`: one pass after another, never two at once. It keeps no process alive.
 *
 * @module
 */

import { positive } from "../engine/define/check.ts";
import type { Engine } from "../engine/engine.ts";
import { ClosedError } from "../errors.ts";
import type { ReconcileOptions, ReconcileReport } from "./report.ts";

/** A pause is this much shorter or longer, so that processes that start together drift apart. */
const JITTER = 0.2;

/** Returns the function that stops it; a pass under way takes up no more operations then. */
export function reconcileEvery(
  ms: number,
  options: ReconcileOptions,
  pass: (options: ReconcileOptions) => Promise<ReconcileReport>,
  { clock, random, isClosed, events }: Engine,
): () => void {
  positive(ms, "reconcileEvery.ms");
  if (isClosed()) throw new ClosedError();
  const stop = new AbortController();
  const { signal } = options;
  let cancel = () => {};
  // A pass that stopped at its limit is gone on with: what stays unknown must not keep others waiting.
  let { cursor } = options;

  const over = () => stop.signal.aborted || isClosed();
  const schedule = () => {
    if (over()) return;
    const pause = ms * (1 - JITTER + 2 * JITTER * random());
    cancel = clock.after(pause, () => void run(), true);
  };
  const run = async (): Promise<void> => {
    if (over()) return;
    try {
      const report = await pass({ ...options, cursor, signal: stop.signal });
      cursor = report.ended === "limit" ? report.cursor : options.cursor;
    } catch (error) {
      events.emit("store", () => ({ status: "error", step: "reconcile", error }));
    }
    schedule();
  };
  const end = () => {
    cancel();
    stop.abort();
    signal?.removeEventListener("abort", end);
  };
  signal?.addEventListener("abort", end, { once: true });
  if (signal?.aborted) end();
  schedule();
  return end;
}
