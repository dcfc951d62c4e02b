/**
 * A late reply is evidence: it decides where the flight still waits, and is filed where it does not.
 *
 * @module
 */

import type { Verdict } from "../../ledger/record.ts";
import { about } from "../call/operation.ts";
import { dedupesOf, type Engine } from "../engine.ts";
import { payloadOf, worldOf } from "../outcome/kept-result.ts";
import type { Attempted } from "./attempt.ts";
import { classify } from "./classify-attempt.ts";
import { endingsOf, type Owned } from "./ownership.ts";
import { restore } from "./restore.ts";

/** The `run` of an attempt whose time was up has settled after all. */
export async function fileLate(owned: Owned, attempted: Attempted, engine: Engine): Promise<void> {
  const { n, verdict = "unknown" } = await classify(owned, attempted, engine, "late");
  if (owned.active) owned.wake.abort();
  else await fileEvidence(owned, n, verdict, engine);
}

/** Writes down what an owner without a say has seen. */
export async function fileEvidence(
  owned: Owned,
  n: number,
  verdict: Verdict,
  engine: Engine,
): Promise<void> {
  const { operation, epoch } = owned;
  const { tool, ref } = operation;
  const at = engine.ledger.clock.latest();
  const ending = endingsOf(owned).find((each) => each.n === n);
  const { status } = ending ?? {};
  const result = verdict === "committed" ? owned.results.get(n) : undefined;
  const payload = result && payloadOf(operation, result, engine);
  const { effect, effectId } = result ? worldOf(tool, result.value) : {};
  const filed = await engine.persist(() =>
    engine.ledger.move(ref, {
      move: "file",
      evidence: { attempt: n, epoch, at, verdict, status, payload, effect, effectId },
      ending: ending && { ...ending, verdict },
      dedupes: dedupesOf(tool),
      at,
    }),
  );
  // The store has lost the record: a commit is the one thing that must not go with it.
  if (filed !== "closed" && filed.tag === "refused" && filed.why === "absent" && result) {
    await restore(owned, { tag: "committed", via: "late", payload, effect, effectId }, engine);
  }
  if (filed !== "closed" && filed.tag === "moved" && filed.report === "duplicate") {
    engine.events.emit("duplicate", () => ({ ...about(operation), source: "late" }));
  }
}
