/**
 * A model call: no effect in the world, so it may be retried, by us alone. One logical call is as many
 * requests as are decided here.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { headersOf, retryAfterMs, statusOf } from "../../classify/answer.ts";
import type { Ended } from "../../classify/classify.ts";
import { isRetryableRead } from "../../classify/http.ts";
import { networkVerdict } from "../../classify/network.ts";
import type { HiddenRetryError } from "../../errors.ts";
import { sleep } from "../../lang/clock.ts";
import { peek } from "../../lang/peek.ts";
import { type WireToken, wireFacts } from "../../wire/token.ts";
import { backoff } from "../backoff.ts";
import type { Engine } from "../engine.ts";
import { fireAndWait, warnOfRepeats } from "../fire-once.ts";
import { type Pass, repeat } from "../passes.ts";

/** How a client's calls are sampled. */
export interface SampleOptions {
  /** How often one call may be sent, the first time included. @default 4 */
  readonly attempts?: number | undefined;
  /** No attempt starts later than this after the call, in milliseconds. @default 60_000 */
  readonly deadlineMs?: number | undefined;
}

export interface Sample<T> extends SampleOptions {
  /** The client, e.g. `openai`: one retry budget. */
  readonly client: string;
  /** What is asked, e.g. `POST /responses`; never its content. */
  readonly step: string;
  /** Sends once; the key is the same on every attempt. */
  readonly send: (attempt: number, key: string) => Promise<T>;
  /** It is a write, and no model call: nothing licenses a second send of it. @default false */
  readonly once?: boolean | undefined;
  /** The client's own reason to ask again, e.g. a token that it has just renewed. */
  readonly renewed?: (() => boolean) | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

export const DEFAULT_SAMPLES = { attempts: 4, deadlineMs: 60_000 };

/** The attempt of a sample under way here. */
const attempts = new AsyncLocalStorage<{ isOver: boolean }>();

/** What `send` returns, or its last error untouched: to its caller the client is as it was. */
export async function runSample<T>(sample: Sample<T>, engine: Engine): Promise<T> {
  const { client, step, signal } = sample;
  const most = sample.attempts ?? DEFAULT_SAMPLES.attempts;
  const { clock, budgets } = engine;
  const key = engine.newId();
  // Owned on two levels, say a model and the client under it: the upper one decides, for both.
  if (attempts.getStore()?.isOver === false) return sample.send(1, key);
  const deadlineAt = clock.monotonic() + (sample.deadlineMs ?? DEFAULT_SAMPLES.deadlineMs);
  let failure: Ended<T> | undefined;

  const ask = async (attempt: number): Promise<Pass<Ended<T>>> => {
    // An abort in the pause: the caller gets what it would have got without us.
    if (failure && signal?.aborted) {
      budgets.putBack(client);
      return done(failure);
    }
    const startedAt = clock.monotonic();
    const level = { isOver: false };
    const { token, ended: sending } = fireAndWait({
      operationId: key,
      attempt,
      run: () => attempts.run(level, async () => sample.send(attempt, key)),
    });
    const ended = await sending;
    level.isOver = true;
    const answer = ended.ok ? ended.value : ended.error;
    const hidden = tell(engine, token, { client, step, attempt, key, startedAt, answer });
    if (hidden) return done({ ok: false, error: hidden });
    if (ended.ok) {
      budgets.reward(client);
      return done(ended);
    }
    failure = ended;
    const asked = retryAfterMs(headersOf(ended.error), clock.now());
    const pauseMs = backoff(attempt - 1, asked, engine.timing, engine.random);
    const leftMs = deadlineAt - clock.monotonic();
    const may = attempt < most && pauseMs < leftMs && !signal?.aborted;
    const isWorth = !sample.once && isWorthRetrying(ended.error);
    if (!may || !(sample.renewed?.() || isWorth)) return done(ended);
    const tokenMs = budgets.reserve(client, leftMs);
    if (tokenMs === undefined) return done(ended);
    return { tag: "wait", waitMs: Math.max(pauseMs, tokenMs) };
  };
  const sampled = await repeat(ask, (waitMs) => sleep(clock, waitMs, signal ?? undefined));
  if (!sampled.ok) throw sampled.error;
  return sampled.value;
}

const done = <T>(value: Ended<T>): Pass<Ended<T>> => ({ tag: "done", value });

function tell(
  engine: Engine,
  token: WireToken,
  sent: {
    readonly client: string;
    readonly step: string;
    readonly attempt: number;
    readonly key: string;
    readonly startedAt: number;
    readonly answer: unknown;
  },
): HiddenRetryError | undefined {
  const { events, clock, tenant } = engine;
  const { client, step, attempt, key } = sent;
  events.emit("sample", () => ({
    client,
    step,
    attempt,
    wireRequests: wireFacts(token).wireRequests,
    durationMs: clock.monotonic() - sent.startedAt,
    status: statusOf(sent.answer),
    replayed: false,
  }));
  const about = () => ({ tool: client, id: key, key, tenant, scope: "", attempt });
  return warnOfRepeats(token, about, engine);
}

/** The service's own word first (`x-should-retry`), then its status, then whether it answered at all. */
export function isWorthRetrying(error: unknown): boolean {
  const said = headersOf(error)("x-should-retry");
  if (said === "true") return true;
  if (said === "false") return false;
  const status = statusOf(error);
  if (status !== undefined) return isRetryableRead(status);
  // SDK errors without an answer carry an own `status` that is undefined.
  const unanswered =
    typeof error === "object" &&
    error !== null &&
    Object.hasOwn(error, "status") &&
    peek(error, "status") === undefined;
  return unanswered || networkVerdict(error) !== undefined;
}
