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

export interface Fired {
  readonly token: WireToken;
  /** It failed, or is not waited for any more: fires its signal. Late requests are judged in `wire/late-request.ts`. */
  stop(): void;
  /** It succeeded: its signal never fires. Whoever undoes on an abort what was begun must not undo what is done. */
  succeeded(): void;
}

/** How it ended; of a write, once each write that it sent is answered or torn down. */
export type OnEnded<T> = (ended: Ended<T>) => void;

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
  /** `signal` makes the signal when it is first asked for: most functions never do. It may throw. */
  readonly run: (signal: () => AbortSignal, token: WireToken) => T | Promise<T>;
}

/** As `fireOnce`, for a function that is waited for in any case. `ended` never rejects. */
export function fireAndWait<T>(firing: Firing<T>): Fired & { readonly ended: Promise<Ended<T>> } {
  let onEnded: OnEnded<T> = () => {};
  const ended = new Promise<Ended<T>>((resolve) => {
    onEnded = resolve;
  });
  return { ...fireOnce(firing, onEnded), ended };
}

/** Calls back once, and never before it has returned. */
export function fireOnce<T>(firing: Firing<T>, onEnded: OnEnded<T>): Fired {
  // Not `firing` itself: what its terms hold on to is to go when it ends.
  const { stopped, run, scope, around, termsAfterEnd } = firing;
  const token = createToken(firing);
  let controller: AbortController | undefined;
  let over: "stopped" | "succeeded" | undefined;
  const onStopped = () => controller?.abort();
  const signal = (): AbortSignal => {
    if (controller) return controller.signal;
    controller = new AbortController();
    if (over === "succeeded") return controller.signal;
    if (over || stopped?.aborted) controller.abort();
    else stopped?.addEventListener("abort", onStopped, { once: true });
    return controller.signal;
  };
  const start = () => runWithToken(token, () => callRun(run, signal, token), scope);
  (around ? around(start) : start()).then(
    (value) => whenQuiet<T>(token, { ok: true, value }, termsAfterEnd, onEnded),
    (error: unknown) => whenQuiet<T>(token, { ok: false, error }, termsAfterEnd, onEnded),
  );
  const end = (how: typeof over) => {
    over = how;
    stopSuspecting(token);
    if (controller) stopped?.removeEventListener("abort", onStopped);
  };
  return {
    token,
    succeeded: () => end("succeeded"),
    stop() {
      end("stopped");
      controller?.abort();
    },
  };
}

/** What it throws at once is a rejection like any other; a promise of its own is not wrapped in another one. */
function callRun<T>(
  run: Firing<T>["run"],
  signal: () => AbortSignal,
  token: WireToken,
): Promise<T> {
  try {
    return Promise.resolve(run(signal, token));
  } catch (error) {
    return Promise.reject(error);
  }
}

/** A `run` that has settled may have left a request behind, which decides what is known of it. */
function whenQuiet<T>(
  token: WireToken,
  ended: Ended<T>,
  termsAfterEnd: Firing<T>["termsAfterEnd"],
  onEnded: OnEnded<T>,
): void {
  const open = token.makeTerms && token.counter?.quiet();
  if (open) {
    void open.then(() => whenQuiet(token, ended, termsAfterEnd, onEnded));
    return;
  }
  endToken(token, termsAfterEnd);
  onEnded(ended);
}

/** Warns of each repeated request. Returns an error if one was sent more than once and `onHiddenRetry` is `"fail"`. */
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
