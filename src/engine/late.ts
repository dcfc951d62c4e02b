/**
 * A late reply is evidence: it decides where the flight still waits, and is filed where it does not.
 *
 * @module
 */

import type { Attempted } from "./attempt.ts";
import { classify } from "./classify.ts";
import { dedupesOf, type Engine, inBackground } from "./engine.ts";
import { about } from "./operation.ts";
import type { Owned } from "./owned.ts";
import { payloadOf, worldOf } from "./result.ts";

/** The `run` of an attempt whose time was up has settled after all. */
export function fileLate(owned: Owned, attempted: Attempted, engine: Engine): void {
  inBackground(engine, async () => {
    const ending = await classify(owned, attempted, engine);
    const { n, verdict = "unknown" } = ending;
    if (verdict !== "unknown") {
      engine.events.emit("late", { ...about(owned.operation), attempt: n, verdict });
    }
    if (owned.active) owned.wake.abort();
    else await fileEvidence(owned, attempted, ending.verdict ?? "unknown", ending.status, engine);
  });
}

/** Writes down what an owner without a say has seen. */
export async function fileEvidence(
  owned: Owned,
  { n }: Pick<Attempted, "n">,
  verdict: "committed" | "not_sent" | "refused" | "rejected" | "unknown",
  status: number | undefined,
  engine: Engine,
): Promise<void> {
  const { operation, epoch } = owned;
  const { tool, ref } = operation;
  const at = engine.ledger.clock.latest();
  const note = owned.attempts.find((attempt) => attempt.n === n);
  const result = verdict === "committed" ? owned.results.get(n) : undefined;
  const payload = result && payloadOf(operation, result, engine);
  const { effect, effectId } = result ? worldOf(tool, result.value) : {};
  const filed = await engine.persist(() =>
    engine.ledger.move(ref, {
      move: "file",
      evidence: {
        attempt: n,
        epoch,
        at,
        verdict,
        status,
        unverified: note?.unverified,
        accepted: note?.accepted,
        payload,
        effect,
        effectId,
      },
      dedupes: dedupesOf(tool),
      at,
    }),
  );
  if (filed !== "closed" && filed.tag === "moved" && filed.report === "duplicate") {
    engine.events.emit("duplicate", { ...about(operation), source: "late" });
  }
}
