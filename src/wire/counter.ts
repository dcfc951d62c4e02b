/**
 * Counts the requests that one attempt makes. It keeps details of the first 64 and goes on
 * counting.
 *
 * @module
 */

import { isRetryableRead } from "../classify/http.ts";
import { networkVerdict } from "../classify/network.ts";
import { type Address, mayFollow, redirectTarget } from "./redirect.ts";

const MAX_NOTES = 64;
const MAX_AWAITED = 16;

/** What was observed of one physical request. */
export interface WireRequest {
  readonly transport: "undici" | "http" | "http2";
  readonly origin: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The number, from 0, of the request whose redirect this one follows. */
  readonly hopOf?: number | undefined;
  /** The status of its answer, once there is one. */
  readonly status?: number | undefined;
}

/** A request that was made more than once. Redirect hops and polling do not count. */
export interface Repeat {
  readonly origin: string;
  readonly method: string;
  readonly path: string;
  /** How often it was sent. */
  readonly count: number;
  /** How often a guard stopped it from being sent again. */
  readonly refused?: number | undefined;
}

/** What the wire proves about an attempt; part of the input of `judge`. */
export interface WireFacts {
  /** Physical requests; a redirect hop counts as one with the request it follows. */
  readonly wireRequests: number;
  /** Redirect hops followed. With any, a refused connection no longer proves that nothing was sent. */
  readonly hops: number;
  /** There was at least one request, and each failed before a byte of it was sent. */
  readonly unsent: boolean;
  /**
   * The status in answer to the first request, across hops that kept its method. A hop from POST to
   * GET only fetches a page afterwards: its status proves nothing about the POST.
   */
  readonly answered?: number | undefined;
}

/** A request that the observer has seen start. */
export interface Seen {
  readonly transport: WireRequest["transport"];
  readonly method: string;
  readonly address: Address;
}

/** What the observer reports about a request. */
export interface Watch {
  /** Its head is being sent. A second call for one request is a second physical request. */
  sent(): void;
  answered(status: number, location: string | undefined): void;
  failed(error: unknown): void;
}

export interface Counter {
  /** The first 64 requests, in order. */
  readonly requests: readonly WireRequest[];
  watch(seen: Seen): Watch;
  /** A request that a guard stopped from being sent. */
  refuse(request: Pick<Seen, "method" | "address">): void;
  facts(): WireFacts;
  repeats(): readonly Repeat[];
}

export interface WireToken {
  readonly operationId: string;
  readonly attempt: number;
  /** Set if no request may be sent under it: the error that each such request gets. */
  readonly refusal: Error | undefined;
  /** What the engine keeps of the attempt around; of no interest to the wire. */
  readonly frame: object | undefined;
  /** Made for the first request: many attempts make none that can be seen. */
  counter: Counter | undefined;
}

export function countOn(token: WireToken): Counter {
  token.counter ??= createCounter();
  return token.counter;
}

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

/** The query is part of the address: the next page of a list is another request. */
const nameOf = (method: string, { href }: Address): string => `${method} ${href}`;

const isRepeat = ({ count, refused }: Repeat): boolean => count > 1 || refused !== undefined;

/** An answered redirect that has not been followed yet. */
interface Awaited {
  readonly href: string;
  readonly status: number;
  readonly method: string;
  readonly by: number;
  readonly speaks: boolean;
}

export function createCounter(): Counter {
  const requests: WireRequest[] = [];
  const groups = new Map<string, Repeat>();
  const closed: Repeat[] = [];
  const awaited: Awaited[] = [];
  let total = 0;
  let hops = 0;
  let unsent = 0;
  let answered: number | undefined;

  function add({ transport, method, address }: Seen, hopOf: number | undefined): number {
    const { origin, path } = address;
    if (requests.length < MAX_NOTES) requests.push({ transport, origin, method, path, hopOf });
    if (hopOf === undefined) {
      const name = nameOf(method, address);
      const group = groups.get(name);
      const count = (group?.count ?? 0) + 1;
      if (group || groups.size < MAX_NOTES) {
        groups.set(name, { ...group, origin, method, path, count });
      }
    } else {
      hops += 1;
    }
    total += 1;
    return total - 1;
  }

  /** Asking an answered read again is polling, not a retry. */
  function close({ method, address }: Seen, status: number) {
    if (!SAFE.has(method) || isRetryableRead(status)) return;
    const name = nameOf(method, address);
    const group = groups.get(name);
    if (group && isRepeat(group) && closed.length < MAX_NOTES) closed.push(group);
    groups.delete(name);
  }

  function follow({ method, address }: Seen): Awaited | undefined {
    const at = awaited.findIndex(
      (redirect) =>
        redirect.href === address.href && mayFollow(redirect.status, redirect.method, method),
    );
    return at < 0 ? undefined : awaited.splice(at, 1)[0];
  }

  function watch(seen: Seen): Watch {
    const hop = follow(seen);
    const speaks = hop ? hop.speaks && hop.method === seen.method : total === 0;
    let number = add(seen, hop?.by);
    let sends = 0;
    let status: number | undefined;
    let never = false;

    function settle(isUnsent: boolean) {
      if (isUnsent !== never) unsent += isUnsent ? 1 : -1;
      never = isUnsent;
    }

    return {
      sent() {
        sends += 1;
        settle(false);
        if (sends > 1) number = add(seen, undefined);
      },
      answered(code, location) {
        // An interim response (100, 103) is not the answer.
        if (code < 200) return;
        status = code;
        settle(false);
        const note = requests[number];
        if (note) requests[number] = { ...note, status };
        if (speaks) answered = status;
        const href = redirectTarget(seen.address.href, status, location);
        if (href === undefined) return close(seen, status);
        awaited.push({ href, status, method: seen.method, by: number, speaks });
        if (awaited.length > MAX_AWAITED) awaited.shift();
      },
      failed(error) {
        if (sends === 0 && status === undefined) settle(networkVerdict(error) === "not_sent");
      },
    };
  }

  return {
    requests,
    watch,
    refuse({ method, address }) {
      const name = nameOf(method, address);
      const group = groups.get(name);
      if (group) groups.set(name, { ...group, refused: (group.refused ?? 0) + 1 });
    },
    facts: () => ({
      wireRequests: total - hops,
      hops,
      unsent: total > 0 && unsent === total,
      answered,
    }),
    repeats: () => [...closed, ...[...groups.values()].filter(isRepeat)],
  };
}
