/**
 * A call under way, and the request of the host that waits for it. A server that asks for something first lets the
 * request go with the question; the next request of the host takes its place.
 *
 * @module
 */

import { isDeepStrictEqual } from "node:util";
import { type Answer, type Fields, type Id, type Request, textOf } from "../pipe/message.ts";

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

/** A flight, and the id by which the server knows its request. */
interface UnderWay extends Flight {
  readonly upstream: () => Id | undefined;
}

/** The calls under way, by the host's id of the request. */
export interface Flights {
  has(id: Id): boolean;
  /**
   * Whether this very request waits for its answer: an id is used once, so the same message under it is one that came twice,
   * and has one answer.
   */
  isWaiting(request: Request): boolean;
  /** A request of the host waits for it: its first, or one that goes on with it. */
  begin(request: Request, flight: UnderWay): void;
  end(flight: UnderWay): void;
  /** Whether the cancelled request is one of these; the server is told, under the id that it knows. */
  cancel(params: Fields): boolean;
}

export function createFlights(sendToServer: (line: string) => Promise<void>): Flights {
  const flights = new Map<Id, { readonly request: Request; readonly flight: UnderWay }>();
  return {
    begin: (request, flight) => void flights.set(request.id, { request, flight }),
    has: (id) => flights.has(id),
    isWaiting({ id, params }) {
      const there = flights.get(id);
      if (there?.flight.waiting?.id !== id || there.flight.stop.signal.aborted) return false;
      return isDeepStrictEqual(there.request.params, params);
    },
    end(flight) {
      for (const [id, one] of flights) if (one.flight === flight) flights.delete(id);
    },
    cancel(params) {
      const { flight } = flights.get(params.requestId as Id) ?? {};
      if (!flight) return false;
      const requestId = flight.upstream();
      flight.stop.abort();
      if (requestId !== undefined) {
        const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled" };
        void sendToServer(textOf({ ...cancelled, params: { ...params, requestId } })).catch(
          () => {},
        );
      }
      return true;
    },
  };
}

/** Calls of which the server has asked for something, by the state that the host brings back. */
export interface Rounds {
  /** Answers the waiting request with the server's question; resolves with the parameters of the next. */
  ask(flight: UnderWay, row: string, result: Fields): Promise<Fields>;
  /** Whether a request goes on with a call that was asked for something; then it takes its place. */
  goOn(waiting: Waiting, params: Fields): UnderWay | undefined;
  /** What a call is told whose row waits with a question: the question, or that its state was never given for it. */
  openIn(row: string, params: Fields): Answer | undefined;
  /** Host or server is gone: no request takes the place of those that were answered with a question. */
  end(): void;
}

interface Round {
  readonly flight: UnderWay;
  readonly row: string;
  readonly shown: Fields;
  /** What the server itself gave the host to bring back. */
  readonly state: unknown;
  readonly resume: (params: Fields) => void;
  readonly giveUp: () => void;
}

const STATE = "holdfire-round:";
const NOT_GIVEN = {
  code: -32602,
  message: "Invalid requestState: this call was not answered with it. Nothing was sent.",
};

/** The parameters without the state of a round that is over: it is ours, and means nothing to the server. */
export function withoutRound(params: Fields): Fields {
  if (!String(params.requestState).startsWith(STATE)) return params;
  const { requestState: _, inputResponses: __, ...rest } = params;
  return rest;
}

export function createRounds(reply: (waiting: Waiting, answer: Answer) => Promise<void>): Rounds {
  const open = new Map<string, Round>();
  // A host that has lost the next question brings the state of the one before.
  const given = new WeakMap<UnderWay, Set<unknown>>();
  return {
    ask: (flight, row, result) =>
      new Promise((resolve, reject) => {
        const { waiting, stop } = flight;
        const state = STATE + crypto.randomUUID();
        const shown = { ...result, requestState: state };
        const giveUp = () => {
          open.delete(state);
          reject(new Error("The host has not answered what the server asked for."));
        };
        if (stop.signal.aborted) return giveUp();
        stop.signal.addEventListener("abort", giveUp, { once: true });
        const resume = (params: Fields) => {
          open.delete(state);
          stop.signal.removeEventListener("abort", giveUp);
          resolve(params);
        };
        open.set(state, { flight, row, shown, state: result.requestState, resume, giveUp });
        given.set(flight, (given.get(flight) ?? new Set()).add(state));
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
    end() {
      for (const { giveUp } of open.values()) giveUp();
    },
    openIn(row, { requestState }) {
      const round = [...open.values()].find((one) => one.row === row);
      if (!round) return undefined;
      const isGiven = requestState === undefined || given.get(round.flight)?.has(requestState);
      return isGiven ? { result: round.shown } : { error: NOT_GIVEN };
    },
  };
}
