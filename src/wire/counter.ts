/**
 * Counts the requests that one attempt makes, and sees how each ended. It keeps details of the first 64
 * and goes on counting.
 *
 * @module
 */

import { isRetryableRead } from "../classify/http.ts";
import { networkVerdict } from "../classify/network.ts";
import { AttemptEndedError } from "../errors.ts";
import { createOpenWork, type OpenWork } from "../lang/open-work.ts";
import { answerOf, type WireRequest } from "./answers.ts";
import { createNotes } from "./notes.ts";
import { type Address, mayFollow, redirectTarget } from "./redirect.ts";
import { createRepeats, type Repeat } from "./repeats.ts";

const MAX_TURNED_AWAY = 64;
const MAX_AWAITED = 16;

/** What the wire proves about an attempt. */
export interface WireFacts {
  /** Physical requests; a redirect hop counts as one with the request it follows. */
  readonly wireRequests: number;
  /** Redirect hops followed. With any, a refused connection no longer proves that nothing was sent. */
  readonly hops: number;
  /** There was at least one request, and each failed before a byte of it was sent. */
  readonly unsent: boolean;
  /** The status in answer to the first request. */
  readonly answered?: number | undefined;
}

/** A request that the observer has seen start. */
export interface Seen {
  readonly transport: WireRequest["transport"];
  readonly method: string;
  readonly address: Address;
  readonly bound?: boolean | undefined;
  readonly ignored?: boolean | undefined;
  readonly effect?: boolean | undefined;
  readonly body?: string | undefined;
  /** Asked for only where an answer was 401 or 407. */
  readonly authorization?: (() => string | undefined) | undefined;
  /** Ends it, if it was sent. */
  readonly tearDown?: (() => void) | undefined;
}

/** What the observer reports about a request. */
export interface Watch {
  /** Its head is being sent. A second call for one request is a second physical request. */
  sent(): void;
  answered(status: number, location?: string | undefined): void;
  failed(error: unknown): void;
}

/** Of its writes it also says when none is open, and tears those down that were sent and are not answered. */
export interface Counter extends OpenWork {
  /** The first 64 requests, in order. */
  readonly requests: readonly WireRequest[];
  watch(seen: Seen): Watch;
  /** A request that a guard stopped from being sent. */
  refuse(request: Pick<Seen, "method" | "address">): void;
  facts(): WireFacts;
  repeats(): readonly Repeat[];
  /** Whether it has made more requests than are kept in detail. */
  isFull(): boolean;
  /** Of the others, one for each way to end, and those that are open. */
  beyond(): readonly WireRequest[];
}

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

export const isSafe = (method: string): boolean => SAFE.has(method.toUpperCase());

/** Whether it may be part of what a tool does to the world. */
export const isWrite = ({
  method,
  ignored,
  effect,
}: Pick<WireRequest, "method" | "ignored" | "effect">): boolean =>
  !ignored && (effect === true || !isSafe(method));

/** The connection was never there, or we stopped the request before its head. */
const failedBeforeHead = (error: unknown): boolean =>
  error instanceof AttemptEndedError ? !error.wasSent : networkVerdict(error) === "not_sent";

/** The query is part of the address: the next page of a list is another request. */
const nameOf = ({ method, address }: Pick<Seen, "method" | "address">): string =>
  `${method} ${address.href}`;

/** By method, address and body: those of two requests of unknown length are taken for the same. */
const loginName = (seen: Pick<Seen, "method" | "address" | "body">): string =>
  `${nameOf(seen)} ${seen.body === "0" ? "" : (seen.body ?? "unknown")}`;

/**
 * The names under which the request may have been turned away that this one is with other credentials. It has the same
 * body; or it had none, since some clients send the body only once they are logged in (Digest, NTLM).
 */
const loginNames = (seen: Seen): readonly string[] => [
  loginName(seen),
  loginName({ ...seen, body: "" }),
];

/** An answered redirect that has not been followed yet. */
interface Awaited {
  readonly href: string;
  readonly status: number;
  readonly method: string;
  readonly by: number;
}

interface TurnedAway {
  readonly by: number;
  readonly authorization: string | undefined;
}

export function createCounter(): Counter {
  const notes = createNotes();
  const repeats = createRepeats();
  const awaited: Awaited[] = [];
  const turnedAway = new Map<string, TurnedAway>();
  const openWrites = createOpenWork();
  let hops = 0;
  let unsent = 0;

  function add(seen: Seen, links: Pick<WireRequest, "hopOf" | "againOf">): number {
    const { transport, method, address, bound, ignored, effect, body } = seen;
    const { origin, path, href } = address;
    if (links.hopOf !== undefined) hops += 1;
    else if (links.againOf === undefined) repeats.count(nameOf(seen), { origin, method, path });
    const facts = { transport, origin, method, path, href, bound, ignored, effect, body };
    return notes.begin({ ...facts, open: true, ...links });
  }

  function follow({ method, address }: Seen): Awaited | undefined {
    const at = awaited.findIndex(
      (redirect) =>
        redirect.href === address.href && mayFollow(redirect.status, redirect.method, method),
    );
    return at < 0 ? undefined : awaited.splice(at, 1)[0];
  }

  /** The same request with other credentials, after one that was turned away: once. */
  function loginOf(seen: Seen): number | undefined {
    if (turnedAway.size === 0) return undefined;
    for (const name of loginNames(seen)) {
      const before = turnedAway.get(name);
      if (!before || before.authorization === seen.authorization?.()) continue;
      turnedAway.delete(name);
      return before.by;
    }
    return undefined;
  }

  function watch(seen: Seen): Watch {
    const hop = follow(seen);
    const writes = isWrite(seen);
    const againOf = hop ? undefined : loginOf(seen);
    let number = add(seen, hop ? { hopOf: hop.by } : { againOf });
    let sends = 0;
    let isOpen = true;
    let never = false;
    const release = writes ? openWrites.hold(seen.tearDown) : undefined;

    function settle(isUnsent: boolean) {
      if (isUnsent !== never) unsent += isUnsent ? 1 : -1;
      never = isUnsent;
    }

    function close() {
      release?.();
      isOpen = false;
    }

    return {
      sent() {
        sends += 1;
        settle(false);
        if (sends > 1) {
          notes.end(number, {});
          number = add(seen, {});
        }
      },
      answered(status, location) {
        // An interim response (100, 103) is not the answer.
        if (status < 200) return;
        settle(false);
        const href = redirectTarget(seen.address.href, status, location);
        const mayLogIn = (status === 401 || status === 407) && againOf === undefined;
        notes.end(number, { status }, href === undefined ? mayLogIn && "login" : "redirect");
        if (mayLogIn && turnedAway.size < MAX_TURNED_AWAY) {
          const before = { by: number, authorization: seen.authorization?.() };
          turnedAway.set(loginName(seen), before);
        }
        if (href === undefined) {
          // Asking an answered read again is polling, not a retry.
          if (isSafe(seen.method) && !writes && !isRetryableRead(status))
            repeats.close(nameOf(seen));
        } else {
          awaited.push({ href, status, method: seen.method, by: number });
          if (awaited.length > MAX_AWAITED) awaited.shift();
        }
        close();
      },
      failed(error) {
        // It was closed, which says nothing more of one that was over before.
        if (!isOpen && error === undefined) return;
        const isAnswered = notes.isAnswered(number);
        if (sends === 0 && !isAnswered) settle(failedBeforeHead(error));
        if (!isAnswered) notes.end(number, { error, unsent: never || undefined });
        close();
      },
    };
  }

  return {
    requests: notes.first,
    watch,
    refuse: (request) => repeats.refuse(nameOf(request)),
    facts: () => ({
      wireRequests: notes.total() - hops,
      hops,
      unsent: notes.total() > 0 && unsent === notes.total(),
      answered: answerOf(notes.first, 0),
    }),
    repeats: repeats.all,
    isFull: () => notes.total() > notes.first.length,
    beyond: notes.beyond,
    ...openWrites,
  };
}
