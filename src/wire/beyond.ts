/**
 * The requests of an attempt beyond those that are kept in detail: those that are open, and of those that have ended one for
 * each way to end. How many ended so makes no difference to what they prove.
 *
 * @module
 */

import type { WireRequest } from "./answers.ts";

export interface Beyond {
  begin(number: number, request: WireRequest): void;
  /** `followed`: it was answered with a redirect, and what follows is a request of its own. */
  end(number: number, how: Partial<WireRequest>, followed?: boolean): void;
  all(): readonly WireRequest[];
}

export function createBeyond(): Beyond {
  const open = new Map<number, WireRequest>();
  const ended = new Map<string, WireRequest>();
  return {
    begin: (number, request) => void open.set(number, request),
    end(number, how, followed) {
      const request = open.get(number);
      if (!request) return;
      open.delete(number);
      if (followed) return;
      const { method, ignored, effect } = request;
      ended.set([method, ignored, effect, how.status].join(" "), { ...request, ...how });
    },
    all: () => [...open.values(), ...ended.values()],
  };
}
