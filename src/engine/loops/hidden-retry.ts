/**
 * A request that one attempt sent more than once: told always, and a failure where the user wants it.
 *
 * The event is the proof that something beside holdfire retries. What a guard has stopped is told
 * too, but it never went out, so it is never a failure.
 *
 * @module
 */

import { HiddenRetryError } from "../../errors.ts";
import type { HoldfireEvents } from "../../observe/events.ts";
import { repeats, type WireToken } from "../../wire/token.ts";
import type { Engine } from "../engine.ts";

/** Tells of each; returns the error where a repetition is one. */
export function tellRepeats(
  token: WireToken,
  about: () => Omit<HoldfireEvents["attempt"], "licence" | "around">,
  { events, onHiddenRetry }: Pick<Engine, "events" | "onHiddenRetry">,
): HiddenRetryError | undefined {
  const all = repeats(token);
  for (const repeat of all) {
    events.emit("warning", () => ({ ...about(), code: "hidden_retry", ...repeat }));
  }
  const sent = all.find(({ count }) => count > 1);
  if (!sent || onHiddenRetry !== "fail") return undefined;
  const { tool, id, key } = about();
  const { method, origin, path } = sent;
  return new HiddenRetryError(`${method} ${origin}${path}`, { tool, id, key });
}
