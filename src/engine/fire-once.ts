/**
 * Fires a function once: under a wire token that counts its requests, and with a signal that tells it
 * to stop. Attempts of writes, reads and model calls are all fired here.
 *
 * @module
 */

import { HiddenRetryError } from "../errors.ts";
import type { StopSignal } from "../lang/stop.ts";
import type { HoldfireEvents } from "../observe/events.ts";
import { createToken, repeats, runWithToken, type WireToken } from "../wire/token.ts";
import type { Engine } from "./engine.ts";

export type Ended<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: unknown };

export interface Fired<T> {
  readonly token: WireToken;
  /** How it ended. Never rejects. */
  readonly ended: Promise<Ended<T>>;
  /** It is over or given up: tells the function, and what it left behind, to send no more. */
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
  /** Stops it early. */
  readonly stopped?: StopSignal | undefined;
  /** What listeners put around it: outside of the token, which they must not lose. */
  readonly around?: ((fn: () => Promise<T>) => Promise<T>) | undefined;
  /** `signal` makes the signal when it is first asked for: most functions never do. */
  readonly run: (signal: () => AbortSignal) => Promise<T>;
}

export function fireOnce<T>(firing: Firing<T>): Fired<T> {
  const { stopped, run, scope, around } = firing;
  const token = createToken(firing);
  let controller: AbortController | undefined;
  let isOver = false;
  const signal = (): AbortSignal => {
    controller ??= new AbortController();
    if (isOver || stopped?.aborted) controller.abort();
    return controller.signal;
  };
  const onStopped = () => controller?.abort();
  stopped?.addEventListener("abort", onStopped, { once: true });
  const start = () => runWithToken(token, () => run(signal), scope);
  const ended = (around ? around(start) : start()).then(
    (value): Ended<T> => ({ ok: true, value }),
    (error: unknown): Ended<T> => ({ ok: false, error }),
  );
  return {
    token,
    ended,
    stop() {
      isOver = true;
      stopped?.removeEventListener("abort", onStopped);
      controller?.abort();
    },
  };
}

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
