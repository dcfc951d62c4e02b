/**
 * A simulated HTTP client. It says what it does where undici says it (`diagnostics_channel`), so that the real wire
 * token sees, counts and stops its requests; they travel in virtual time.
 */

import { AsyncResource } from "node:async_hooks";
import { channel } from "node:diagnostics_channel";

export const ORIGINS = { service: "http://service.sim", audit: "http://audit.sim" } as const;

export type Origin = keyof typeof ORIGINS;

/** The way of one request: each part calls back in the process, or never. */
export interface Road<A> {
  readonly origin: Origin;
  readonly path: string;
  /** @default "POST" */
  readonly method?: string | undefined;
  /** `refused`: there is nobody at the other end. */
  connect(done: (refused: boolean) => void): void;
  /** The head is written: from here on it may take effect. */
  depart(hear: Hear<A>): void;
}

/** False if nobody listens any more: the request was torn down. */
export type Hear<A> = (heard: Heard<A>) => boolean;

export type Heard<A> =
  | { readonly status: number; readonly answer: A }
  | { readonly status: "reset" };

const CREATED = channel("undici:request:create");
const SENDING = channel("undici:client:sendHeaders");
const ANSWERED = channel("undici:request:headers");
const FAILED = channel("undici:request:error");

/** A socket's events have an async context of their own, which the observer may change. */
const fromSocket = (publish: () => void): void =>
  new AsyncResource("simulated-socket").runInAsyncScope(publish);

const refusedError = (): Error =>
  Object.assign(new Error("connect"), { code: "ECONNREFUSED", syscall: "connect", errno: -111 });

const resetError = (): Error =>
  Object.assign(new Error("read"), { code: "ECONNRESET", syscall: "read", errno: -104 });

/** Rejects as `fetch` does: with what went wrong as the cause. */
export function exchange<A>(
  road: Road<A>,
  signal: AbortSignal | undefined,
): Promise<{ readonly status: number; readonly answer: A }> {
  const request = {
    origin: ORIGINS[road.origin],
    method: road.method ?? "POST",
    path: road.path,
    headers: [] as string[],
    error: undefined as Error | undefined,
  };
  return new Promise((resolve, reject) => {
    let isOver = false;
    const end = (tell: () => void): void => {
      if (isOver) return;
      isOver = true;
      tell();
    };
    const fail = (error: Error): void =>
      end(() => {
        fromSocket(() => FAILED.publish({ request, error }));
        reject(new TypeError("fetch failed", { cause: error }));
      });
    const abort = (): void =>
      end(() => {
        const error = new DOMException("aborted", "AbortError");
        fromSocket(() => FAILED.publish({ request, error }));
        reject(error);
      });
    CREATED.publish({ request });
    if (signal?.aborted) return abort();
    signal?.addEventListener("abort", abort, { once: true });
    road.connect((refused) => {
      if (isOver) return;
      if (request.error) return fail(request.error);
      if (refused) return fail(refusedError());
      const stopped = writeHead(request);
      if (stopped) return fail(stopped);
      road.depart((heard) => {
        if (isOver) return false;
        if (heard.status === "reset") fail(resetError());
        else {
          isOver = true;
          const response = { statusCode: heard.status, headers: [] };
          fromSocket(() => ANSWERED.publish({ request, response }));
          resolve(heard);
        }
        return true;
      });
    });
  });
}

/** The observer may destroy the socket instead, with an error. */
function writeHead(request: { readonly method: string }): Error | undefined {
  let stopped: Error | undefined;
  const socket = {
    destroy(error: Error) {
      stopped = error;
    },
  };
  fromSocket(() => SENDING.publish({ request, headers: `${request.method} /`, socket }));
  return stopped;
}

const OTHER_WAY = channel("worker_threads");

/** A thread is started, which does what it does out of sight. */
export const startThread = (): void => OTHER_WAY.publish({ worker: {} });
