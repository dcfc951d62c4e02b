/**
 * Remembers by whom each piece of async work was arranged: what comes after an `await`, a timer, a socket's event. A
 * stack alone ends where a promise is passed on or an event is emitted, and it does not tell two calls of one function
 * apart.
 *
 * @module
 */

import { createHook, executionAsyncId } from "node:async_hooks";

export interface Arranged {
  readonly id: number;
  /** Where: made into text only when it is asked for. */
  readonly place: { readonly stack?: string };
}

export interface Causes {
  /** What runs now, what it was arranged by, and so on. */
  now(): readonly Arranged[];
}

const MOST_KEPT = 50_000;
const MOST_STEPS = 300;
const FRAMES = 25;

function placeNow(): Arranged["place"] {
  const { stackTraceLimit } = Error;
  const place = {};
  // Where a program has frozen it, its own limit counts: what throws in here would end the process.
  Reflect.set(Error, "stackTraceLimit", FRAMES);
  Error.captureStackTrace(place);
  Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  return place;
}

export function rememberCauses(): Causes {
  const kept = new Map<number, Arranged & { readonly during: number }>();
  createHook({
    init(id) {
      kept.set(id, { id, place: placeNow(), during: executionAsyncId() });
      if (kept.size <= MOST_KEPT) return;
      const [oldest = id] = kept.keys();
      kept.delete(oldest);
    },
  }).enable();

  return {
    now() {
      const steps: Arranged[] = [];
      let id = executionAsyncId();
      while (id > 0 && steps.length < MOST_STEPS) {
        const step = kept.get(id);
        steps.push(step ?? { id, place: {} });
        id = step?.during ?? 0;
      }
      return steps;
    },
  };
}
