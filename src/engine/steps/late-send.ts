/**
 * What takes a certainty back: a write that left after its attempt had ended, and a way out that cannot be stopped.
 * Both are told to the ledger; an owner that still decides hears of them there.
 *
 * @module
 */

import type { WriteTerms } from "../../wire/token.ts";
import { type Engine, inBackground } from "../engine.ts";
import { about, type Operation } from "../operation/operation.ts";

/** What holds for the requests of an attempt that has ended. It keeps nothing else of it. */
export const termsAfterEnd =
  (operation: Operation, n: number, engine: Engine): (() => WriteTerms) =>
  () => ({
    ignores: operation.tool.ignores,
    mayStillSend: () => false,
    onLate: () => doubtLate(operation, n, engine),
    onOtherWay: () => noteUnvetoable(operation, n, engine),
  });

/** A request that may be this attempt's has left after its end: that nothing happened is not certain any more. */
function doubtLate(operation: Operation, n: number, engine: Engine): void {
  engine.events.emit("warning", () => ({ ...about(operation), code: "late_send", attempt: n }));
  const at = engine.ledger.clock.latest();
  // It may take as long as an attempt: an absence that is read before proves nothing.
  const endsBy = at + operation.tool.attemptTimeoutMs;
  const move = { move: "doubt", attempt: n, why: "late_send", endsBy, at } as const;
  inBackground(engine, () => engine.persist(() => engine.ledger.move(operation.ref, move)));
}

/** The attempt has opened a socket, or started a process or a thread, or a `fetch` that is not seen: what leaves there cannot be stopped. */
export function noteUnvetoable({ ref }: Operation, n: number, engine: Engine): void {
  const move = { move: "doubt", attempt: n, why: "unvetoable" } as const;
  inBackground(engine, () => engine.ledger.move(ref, move));
}
