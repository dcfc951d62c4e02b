/**
 * Announces an operation to listeners when it begins and when it has an outcome, however it ends.
 *
 * @module
 */

import { surrounding } from "../../observe/around.ts";
import type { HoldfireEvents } from "../../observe/events.ts";
import type { Engine } from "../engine.ts";
import type { Outcome } from "../operation/outcome.ts";

type Begun = Omit<HoldfireEvents["operation"], "around">;
type OutcomeEvent = Omit<HoldfireEvents["outcome"], keyof Begun | "durationMs">;

export const isAnnounced = ({ events }: Engine): boolean =>
  events.has("operation") || events.has("outcome");

export function announced(
  begun: () => Begun,
  { events, clock }: Engine,
  run: () => Promise<Outcome<unknown>>,
): Promise<Outcome<unknown>> {
  const startedAt = clock.monotonic();
  const announce = (ended: () => OutcomeEvent): void =>
    events.emit("outcome", () => {
      const { toolCallId: _, ...named } = begun();
      return { ...named, ...ended(), durationMs: clock.monotonic() - startedAt };
    });
  const inside = surrounding();
  events.emit("operation", () => ({ ...begun(), around: inside.around }));
  return inside.run(() =>
    run().then(
      (outcome) => {
        announce(() => endedBy(outcome));
        return outcome;
      },
      (error: unknown) => {
        announce(() => ({ status: "failed", error, attempts: 0, replayed: false, recorded: true }));
        throw error;
      },
    ),
  );
}

function endedBy(outcome: Outcome<unknown>): OutcomeEvent & { readonly key: string } {
  const { status, key, licence, attempts, replayed, recorded } = outcome;
  const reason = "reason" in outcome ? outcome.reason : undefined;
  const via = "via" in outcome ? outcome.via : undefined;
  const error = "error" in outcome ? outcome.error : undefined;
  return { status, key, reason, via, licence, attempts, replayed, recorded, error };
}
