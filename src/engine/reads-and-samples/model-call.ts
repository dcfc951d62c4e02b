/**
 * Announces a model call to listeners when it begins, and when its answer has come whole, has broken off or has failed. One call
 * is as many requests as it takes.
 *
 * Where a client is owned on two levels, say a model and the client under it, the upper one is the call; what the lower one
 * learns is told of it.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { statusOf } from "../../classify/answer.ts";
import { surrounding } from "../../observe/around.ts";
import type { HoldfireEvents } from "../../observe/events.ts";
import type { Engine } from "../engine.ts";

type Begun = Omit<HoldfireEvents["model_call"], "id" | "around">;

/** What the answer says of itself. */
export interface AnswerFacts {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly responseModel?: string | undefined;
  /** It broke off. */
  readonly partial?: boolean | undefined;
}

export interface ModelCall {
  /** Whether anybody is told of it. */
  readonly isHeard: boolean;
  /** Runs the call inside what listeners put around it. */
  run<T>(fn: () => Promise<T>): Promise<T>;
  /** One more request is sent. */
  sending(): void;
  /** Whether its tokens were told, by the client under it. */
  isCounted(): boolean;
  /** Only the first end counts. */
  ended(facts?: AnswerFacts): void;
  replayed(): void;
  failed(error: unknown): void;
}

interface Open extends ModelCall {
  isOver: boolean;
  learn(facts: AnswerFacts): void;
}

const calls = new AsyncLocalStorage<Open>();

const pass = <T>(fn: () => Promise<T>): Promise<T> => fn();
const nothing = (): void => {};

const UNHEARD: ModelCall = {
  ...{ isHeard: false, run: pass, sending: nothing, isCounted: () => false },
  ...{ ended: nothing, replayed: nothing, failed: nothing },
};

const HEARD = ["model_call", "model_answer", "usage"] as const;

/** Only a request that asks a model is a model call: `begun` is `undefined` for others. */
export function beginModelCall(begun: Begun | undefined, engine: Engine): ModelCall {
  const { events } = engine;
  if (!begun || !HEARD.some((name) => events.has(name))) return UNHEARD;
  const upper = calls.getStore();
  if (upper && !upper.isOver) {
    const ended = (facts: AnswerFacts = {}) => upper.learn(facts);
    return { ...UNHEARD, isHeard: true, sending: upper.sending, ended };
  }
  return announce(begun, engine);
}

function announce(begun: Begun, { events, clock, newId }: Engine): ModelCall {
  const id = newId();
  const startedAt = clock.monotonic();
  let attempts = 0;
  let learned: AnswerFacts = {};

  function end(how: Partial<HoldfireEvents["model_answer"]>): void {
    if (call.isOver) return;
    call.isOver = true;
    const { partial = false, ...known } = learned;
    events.emit("model_answer", () => ({
      ...{ ...begun, ...known, id, attempts, replayed: false, partial, ...how },
      durationMs: clock.monotonic() - startedAt,
    }));
  }

  const call: Open = {
    isHeard: true,
    isOver: false,
    learn(facts) {
      learned = { ...learned, ...facts };
    },
    run(fn) {
      const inside = surrounding();
      events.emit("model_call", () => ({ ...begun, id, around: inside.around }));
      return inside.run(() => calls.run(call, fn));
    },
    sending() {
      attempts += 1;
    },
    isCounted: () => learned.inputTokens !== undefined || learned.outputTokens !== undefined,
    ended(facts = {}) {
      call.learn(facts);
      end({});
    },
    replayed: () => end({ replayed: true }),
    failed: (error) => end({ status: statusOf(error), error }),
  };
  return call;
}
