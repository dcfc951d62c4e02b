/**
 * A call under way, and the request of the host that waits for it. A server that asks for something first lets the
 * request go with the question; the next request of the host takes its place.
 *
 * @module
 */

import type { Answer, Fields, Id } from "../pipe/message.ts";

export interface Waiting {
  readonly id: Id;
  /** On the monotonic clock. */
  readonly arrivedAt: number;
}

export interface Flight {
  /** The request that is to be answered. */
  waiting: Waiting | undefined;
  /** Its host does not want it any more. */
  readonly stop: AbortController;
}

/** Calls of which the server has asked for something, by the state that the host brings back. */
export interface Rounds {
  /** Answers the waiting request with the server's question; resolves with the parameters of the next. */
  ask(flight: Flight, row: string, result: Fields): Promise<Fields>;
  /** Whether a request goes on with a call that was asked for something; then it takes its place. */
  goOn(waiting: Waiting, params: Fields): Flight | undefined;
  /** The question that a row waits with. */
  openIn(row: string): Fields | undefined;
}

interface Round {
  readonly flight: Flight;
  readonly row: string;
  readonly shown: Fields;
  /** What the server itself gave the host to bring back. */
  readonly state: unknown;
  readonly resume: (params: Fields) => void;
}

const STATE = "holdfire-round:";

export function createRounds(reply: (waiting: Waiting, answer: Answer) => Promise<void>): Rounds {
  const open = new Map<string, Round>();
  return {
    ask: (flight, row, result) =>
      new Promise((resolve, reject) => {
        const { waiting, stop } = flight;
        const state = STATE + crypto.randomUUID();
        const shown = { ...result, requestState: state };
        const give = () => {
          open.delete(state);
          reject(new Error("The host does not want it any more."));
        };
        if (stop.signal.aborted) return give();
        stop.signal.addEventListener("abort", give, { once: true });
        const resume = (params: Fields) => {
          open.delete(state);
          stop.signal.removeEventListener("abort", give);
          resolve(params);
        };
        open.set(state, { flight, row, shown, state: result.requestState, resume });
        flight.waiting = undefined;
        if (waiting) void reply(waiting, { result: shown });
      }),
    goOn(waiting, params) {
      const round = open.get(String(params.requestState));
      if (!round) return undefined;
      const { requestState: _, ...rest } = params;
      round.flight.waiting = waiting;
      round.resume(round.state === undefined ? rest : { ...rest, requestState: round.state });
      return round.flight;
    },
    openIn: (row) => [...open.values()].find((round) => round.row === row)?.shown,
  };
}
