/**
 * Fires a function once: under a wire token that counts its requests, and with a signal that tells it
 * to stop. Attempts of writes, reads and model calls are all fired here.
 *
 * @module
 */

import type { Ended } from "../classify/classify.ts";
import { HiddenRetryError } from "../errors.ts";
import type { StopSignal } from "../lang/stop.ts";
import type { HoldfireEvents } from "../observe/events.ts";
import {
  createToken,
  endToken,
  repeats,
  runWithToken,
  stopSuspecting,
  type WireToken,
  type WriteTerms,
} from "../wire/token.ts";
import type { Engine } from "./engine.ts";

export interface Fired<T> {
  readonly token: WireToken;
  /** How it ended; of a write, once each write that it sent is answered or torn down. Never rejects. */
  readonly ended: Promise<Ended<T>>;
  /** It is over, or not waited for any more: fires its signal. What leaves is stopped elsewhere, by its end and its time. */
  stop(): void;
}

export interface Firing<T> {
  readonly operationId: string;
  readonly attempt: number;
  /** No request may leave; this is the error for those that try. */
  readonly refusal?: Error | undefined;
  /** The attempt that operations made inside belong to. @default the one around */
  readonly frame?: object | undefined;
  /** The scope of calls made inside. @default the scope around */
  readonly scope?: object | undefined;
  /** Of a write: what holds for its requests, made when there is one; and with whom it may share a queue. */
  readonly makeTerms?: (() => WriteTerms) | undefined;
  readonly termsAfterEnd?: (() => WriteTerms) | undefined;
  readonly group?: object | undefined;
  /** Stops it early. */
  readonly stopped?: StopSignal | undefined;
  /** What listeners put around it: outside of the token, which they must not lose. */
  readonly around?: ((fn: () => Promise<T>) => Promise<T>) | undefined;
  /** `signal` makes the signal when it is first asked for: most functions never do. */
  readonly run: (signal: () => AbortSignal, token: WireToken) => Promise<T>;
}

export function fireOnce<T>(firing: Firing<T>): Fired<T> {
  // Not `firing` itself: what its terms hold on to is to go when it ends.
  const { stopped, run, scope, around, termsAfterEnd } = firing;
  const token = createToken(firing);
  let controller: AbortController | undefined;
  let isOver = false;
  const onStopped = () => controller?.abort();
  const signal = (): AbortSignal => {
    if (controller) return controller.signal;
    controller = new AbortController();
    if (isOver || stopped?.aborted) controller.abort();
    else stopped?.addEventListener("abort", onStopped, { once: true });
    return controller.signal;
  };
  const start = () => runWithToken(token, () => run(signal, token), scope);
  const ended = (around ? around(start) : start()).then(
    (value) => whenQuiet<Ended<T>>(token, { ok: true, value }, termsAfterEnd),
    (error: unknown) => whenQuiet<Ended<T>>(token, { ok: false, error }, termsAfterEnd),
  );
  return {
    token,
    ended,
    stop() {
      isOver = true;
      stopSuspecting(token);
      if (!controller) return;
      stopped?.removeEventListener("abort", onStopped);
      controller.abort();
    },
  };
}

/** A `run` that has settled may have left a request behind, which decides what is known of it. */
function whenQuiet<T>(
  token: WireToken,
  ended: T,
  termsAfterEnd: Firing<T>["termsAfterEnd"],
): T | Promise<T> {
  const open = token.makeTerms && token.counter?.quiet();
  if (open) return open.then(() => whenQuiet(token, ended, termsAfterEnd));
  endToken(token, termsAfterEnd);
  return ended;
}

/** Tells of each; returns the error where a repetition is one. */
export function warnOfRepeats(
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
