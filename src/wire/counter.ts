/**
 * Counts what is seen of one attempt's requests. Keeps notes of the first 64 and goes on counting.
 *
 * @module
 */

import { networkVerdict } from "../classify/network.ts";
import { type Address, mayFollow, redirectTarget } from "./redirect.ts";
import type { Repeat, WireFacts, WireRequest } from "./token.ts";

const MAX_NOTES = 64;
const MAX_AWAITED = 16;

/** A request the observer has seen begin. */
export interface Seen {
  readonly transport: WireRequest["transport"];
  readonly method: string;
  readonly address: Address;
}

/** How the observer tells what becomes of a request. */
export interface Watch {
  /** Its head goes out now. Twice for one request is a second physical request. */
  sent(): void;
  answered(status: number, location: string | undefined): void;
  failed(error: unknown): void;
}

export interface Counter {
  /** The first 64 requests, in order. */
  readonly requests: readonly WireRequest[];
  watch(seen: Seen): Watch;
  facts(): WireFacts;
  repeats(): readonly Repeat[];
}

/** An answered redirect that nobody has followed yet. */
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
  const awaited: Awaited[] = [];
  let total = 0;
  let hops = 0;
  let unsent = 0;
  let answered: number | undefined;

  function add({ transport, method, address }: Seen, hopOf: number | undefined): number {
    const { origin, path } = address;
    if (requests.length < MAX_NOTES) requests.push({ transport, origin, method, path, hopOf });
    if (hopOf === undefined) {
      const name = `${method} ${origin}${path}`;
      const count = (groups.get(name)?.count ?? 0) + 1;
      if (count > 1 || groups.size < MAX_NOTES) groups.set(name, { origin, method, path, count });
    } else {
      hops += 1;
    }
    total += 1;
    return total - 1;
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
        // An interim answer (100, 103) is none.
        if (code < 200) return;
        status = code;
        settle(false);
        const note = requests[number];
        if (note) requests[number] = { ...note, status };
        if (speaks) answered = status;
        const href = redirectTarget(seen.address.href, status, location);
        if (href === undefined) return;
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
    facts: () => ({
      wireRequests: total - hops,
      hops,
      unsent: total > 0 && unsent === total,
      answered,
    }),
    repeats: () => [...groups.values()].filter(({ count }) => count > 1),
  };
}
