/**
 * A late reply is evidence: it decides where the execution still waits, and is filed where it does not.
 *
 * @module
 */

import type { Ending, Verdict } from "../../ledger/record.ts";
import { recognisesRepeats } from "../define/tool.ts";
import type { Engine } from "../engine.ts";
import { about } from "../operation/operation.ts";
import { effectOf, payloadOf } from "../outcome/kept-result.ts";
import { endingsOf, type Owned } from "./ownership.ts";
import { restore } from "./restore.ts";

/** The `run` of an attempt whose time was up has settled after all, and was classified. */
export async function fileLateReply(owned: Owned, ending: Ending, engine: Engine): Promise<void> {
  const { n, verdict = "unknown" } = ending;
  if (owned.active) owned.wake.abort();
  else await fileEvidence(owned, n, verdict, engine);
}

/** Writes down what an owner saw that no longer decides. */
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
  const { effect, effectId } = result ? effectOf(tool, result.value) : {};
  const filed = await engine.persist(() =>
    engine.ledger.move(ref, {
      move: "file",
      evidence: { attempt: n, epoch, at, verdict, status, payload, effect, effectId },
      ending: ending && { ...ending, verdict },
      dedupes: recognisesRepeats(tool),
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
