/**
 * What the service will compare (ETag, version, unique name): read once, before the claim, and sent
 * unchanged with every attempt.
 *
 * @module
 */

import { canonicalize } from "../../key/canonical.ts";
import { withTimeLimit } from "../../lang/time-limit.ts";
import type { Payload } from "../../ledger/codec.ts";
import type { StateTag } from "../../ledger/record.ts";
import type { Engine } from "../engine.ts";
import type { Execution } from "../operation/execution.ts";
import { about } from "../operation/operation.ts";
import { askStore } from "../store-call.ts";

export type PreconditionRead =
  | { readonly tag: "read"; readonly precondition: Payload | undefined }
  /** Nothing can be sent without it. */
  | { readonly tag: "failed" | "late" | "stopped"; readonly error: unknown };

/** From these a claim fires; in all others the precondition of the first attempt stands. */
const FIRED_ANEW = new Set<StateTag>(["held", "queued", "not_applied"]);

export async function readPrecondition(
  execution: Execution,
  engine: Engine,
): Promise<PreconditionRead> {
  const { operation } = execution;
  const { tool, args, ref } = operation;
  const { precondition } = tool;
  if (!precondition) return { tag: "read", precondition: undefined };
  const known = await askStore(engine, "read", engine.ledger.read(ref));
  if (known && !FIRED_ANEW.has(known.record.state.tag)) {
    return { tag: "read", precondition: undefined };
  }
  const timeoutMs = Math.min(tool.readTimeoutMs, Math.max(execution.remainingMs(), 0));
  const asked = execution.untilStopped(async () => precondition(args));
  const inTime = await withTimeLimit(engine.clock, timeoutMs, asked);
  const stopped = inTime.tag === "done" && inTime.value.tag === "stopped";
  if (stopped) return { tag: "stopped", error: undefined };
  if (inTime.tag === "done" && inTime.value.tag === "done") {
    const { text } = canonicalize(inTime.value.value, "precondition");
    return { tag: "read", precondition: engine.codec.encodeText(text, ref) };
  }
  const tag = inTime.tag === "failed" ? "failed" : "late";
  engine.events.emit("warning", () => ({
    ...about(operation),
    code: "reader_failed",
    which: "precondition",
    why: tag,
  }));
  return { tag, error: inTime.tag === "failed" ? inTime.error : undefined };
}
