/**
 * What the service will compare (ETag, version, unique name): read once, before the claim, and sent
 * unchanged with every attempt.
 *
 * @module
 */

import { canonicalize } from "../../key/canonical.ts";
import { within } from "../../lang/time-limit.ts";
import type { Payload } from "../../ledger/codec.ts";
import type { StateTag } from "../../ledger/record.ts";
import type { Flight } from "../call/execution.ts";
import { about } from "../call/operation.ts";
import type { Engine } from "../engine.ts";
import { reach } from "../store-call.ts";

export type Fixed =
  | { readonly tag: "fixed"; readonly precondition: Payload | undefined }
  /** Nothing can be sent without it. */
  | { readonly tag: "failed" | "late" | "stopped"; readonly error: unknown };

/** From these a claim fires; in all others the precondition of the first attempt stands. */
const FIRED_ANEW = new Set<StateTag>(["held", "queued", "not_applied"]);

export async function fixPrecondition(flight: Flight, engine: Engine): Promise<Fixed> {
  const { operation } = flight;
  const { tool, args, ref } = operation;
  const { precondition } = tool;
  if (!precondition) return { tag: "fixed", precondition: undefined };
  const known = await reach(engine, "read", engine.ledger.read(ref));
  if (known && !FIRED_ANEW.has(known.record.state.tag)) {
    return { tag: "fixed", precondition: undefined };
  }
  const timeoutMs = Math.min(tool.readTimeoutMs, Math.max(flight.remainingMs(), 0));
  const asked = flight.untilStopped(async () => precondition(args));
  const inTime = await within(engine.clock, timeoutMs, asked);
  const stopped = inTime.tag === "done" && inTime.value.tag === "stopped";
  if (stopped) return { tag: "stopped", error: undefined };
  if (inTime.tag === "done" && inTime.value.tag === "done") {
    const { text } = canonicalize(inTime.value.value, "precondition");
    return { tag: "fixed", precondition: engine.codec.encodeText(text, ref) };
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
