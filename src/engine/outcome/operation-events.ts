/**
 * Tells those who watch when an operation is taken up and what became of it, however it ends.
 *
 * @module
 */

import { surrounding } from "../../observe/around.ts";
import type { HoldfireEvents } from "../../observe/events.ts";
import type { Engine } from "../engine.ts";
import type { Outcome } from "./outcome.ts";

type Taken = Omit<HoldfireEvents["operation"], "around">;

export function tellOperation(
  taken: Taken,
  { events, clock }: Engine,
  run: () => Promise<Outcome<unknown>>,
): Promise<Outcome<unknown>> {
  const { kind: _k, by: _b, ...about } = taken;
  const startedAt = clock.monotonic();
  const tell = (outcome: Told) => {
    const durationMs = clock.monotonic() - startedAt;
    events.emit("outcome", { ...about, ...outcome, durationMs });
  };
  const inside = surrounding();
  events.emit("operation", { ...taken, around: inside.around });
  return inside.run(() =>
    run().then(
      (outcome) => {
        tell(toldOf(outcome));
        return outcome;
      },
      (error: unknown) => {
        tell({ status: "failed", error, attempts: 0, replayed: false, recorded: true });
        throw error;
      },
    ),
  );
}

type Told = Omit<HoldfireEvents["outcome"], keyof Taken | "durationMs">;

function toldOf(outcome: Outcome<unknown>): Told & { readonly key: string } {
  const { status, key, licence, attempts, replayed, recorded } = outcome;
  const reason = "reason" in outcome ? outcome.reason : undefined;
  const error = "error" in outcome ? outcome.error : undefined;
  return { status, key, reason, licence, attempts, replayed, recorded, error };
}
