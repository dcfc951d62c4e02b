/**
 * Notes what the requests of an attempt were, and how each ended. The first 64 are kept in detail. Of the others those that
 * are open are, and of those that have ended one for each way to end: how many ended so makes no difference to what they prove.
 *
 * Beyond the 64, a request that goes on with an earlier one (a redirect, a login) has no link to it: it takes its place.
 *
 * @module
 */

import type { WireRequest } from "./answers.ts";

const MAX_NOTES = 64;

/** How a request ended that another one may go on with. */
export type GoesOn =
  /** It was answered with a redirect: what follows is a request of its own. */
  | "redirect"
  /** It was turned away, and may be sent again with other credentials. */
  | "login";

export interface Notes {
  /** The first 64 requests, in order. */
  readonly first: readonly WireRequest[];
  /** Returns its number, from 0. */
  begin(request: WireRequest): number;
  end(number: number, how: Partial<WireRequest>, goesOn?: GoesOn | false): void;
  /** Whether it is known to be answered. */
  isAnswered(number: number): boolean;
  total(): number;
  /** Of those that are not kept in detail, one for each way to end, and those that are open. */
  beyond(): readonly WireRequest[];
}

export function createNotes(): Notes {
  const first: WireRequest[] = [];
  /** Made for the 65th request. */
  let beyond: Beyond | undefined;
  let total = 0;

  const placeOf = (number: number): number => beyond?.placeOf(number) ?? number;

  return {
    first,
    begin(request) {
      if (total < MAX_NOTES) first.push(request);
      else {
        beyond ??= createBeyond(first);
        beyond.begin(total, request);
      }
      total += 1;
      return total - 1;
    },
    end(number, how, goesOn) {
      const place = placeOf(number);
      const request = first[place];
      if (request) first[place] = { ...request, open: false, ...how };
      else beyond?.end(number, how, goesOn);
    },
    isAnswered: (number) => first[placeOf(number)]?.status !== undefined,
    total: () => total,
    beyond: () => beyond?.all() ?? [],
  };
}

interface Beyond extends Pick<Notes, "end"> {
  begin(number: number, request: WireRequest): void;
  /** The number of the one among the first whose place it has taken. */
  placeOf(number: number): number | undefined;
  all(): readonly WireRequest[];
}

function createBeyond(first: WireRequest[]): Beyond {
  const places = new Map<number, number>();
  const open = new Map<number, WireRequest>();
  const turnedAway = new Map<number, WireRequest>();
  const ended = new Map<string, WireRequest>();
  return {
    begin(number, { hopOf, againOf, ...request }) {
      const of = hopOf ?? againOf ?? number;
      const place = places.get(of) ?? of;
      const before = first[place];
      // A hop from POST to GET only fetches a page: the answer to the POST stands.
      if (before?.method === request.method) {
        first[place] = { ...before, open: true, status: undefined };
        places.set(number, place);
        return;
      }
      if (againOf !== undefined) turnedAway.delete(againOf);
      open.set(number, request);
    },
    end(number, how, goesOn) {
      const request = open.get(number);
      if (!request) return;
      open.delete(number);
      if (goesOn === "redirect") return;
      const one = { ...request, open: false, ...how };
      const { method, ignored, effect, status } = one;
      if (goesOn === "login" && turnedAway.size < MAX_NOTES) turnedAway.set(number, one);
      else ended.set([method, ignored, effect, status].join(" "), one);
    },
    placeOf: (number) => places.get(number),
    all: () => [...open.values(), ...turnedAway.values(), ...ended.values()],
  };
}
