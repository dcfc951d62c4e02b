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
  taken: () => Taken,
  { events, clock }: Engine,
  run: () => Promise<Outcome<unknown>>,
): Promise<Outcome<unknown>> {
  const startedAt = clock.monotonic();
  const tell = (told: () => Told): void =>
    events.emit("outcome", () => {
      const { kind: _, ...about } = taken();
      return { ...about, ...told(), durationMs: clock.monotonic() - startedAt };
    });
  const inside = surrounding();
  events.emit("operation", () => ({ ...taken(), around: inside.around }));
  return inside.run(() =>
    run().then(
      (outcome) => {
        tell(() => toldOf(outcome));
        return outcome;
      },
      (error: unknown) => {
        tell(() => ({ status: "failed", error, attempts: 0, replayed: false, recorded: true }));
        throw error;
      },
    ),
  );
}

type Told = Omit<HoldfireEvents["outcome"], keyof Taken | "durationMs">;

function toldOf(outcome: Outcome<unknown>): Told & { readonly key: string } {
  const { status, key, licence, attempts, replayed, recorded } = outcome;
  const reason = "reason" in outcome ? outcome.reason : undefined;
  const via = "via" in outcome ? outcome.via : undefined;
  const error = "error" in outcome ? outcome.error : undefined;
  return { status, key, reason, via, licence, attempts, replayed, recorded, error };
}
