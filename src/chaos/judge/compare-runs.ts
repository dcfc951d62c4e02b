/**
 * Compares a run with a broken reply to the run without: what was sent again, and by which layer.
 *
 * @module
 */

import { type Layer, nameLayer } from "./name-layer.ts";
import type { RunLog, RunSend } from "./run-log.ts";

/** A write that went out more often than without the fault. */
export interface SentAgain {
  /** `POST https://api.example.com/payouts`, or `pay at https://mcp.example.com/` for a tool over MCP. */
  readonly write: string;
  /** How often it was sent in this run; with the same body, where its repeat has that. */
  readonly sent: number;
  /** How often in the run without faults. */
  readonly withoutFaults: number;
  /** Each send had the same body. */
  readonly isSameBody: boolean;
  /** Each send carried the same idempotency key or precondition, by which the service can tell. */
  readonly isKeyed: boolean;
  readonly layer: Layer;
}

export const nameOf = ({ method, origin, path, tool }: RunSend): string =>
  tool === undefined ? `${method} ${origin}${path}` : `${tool} at ${origin}${path}`;

/** The same in another run, where a service on this machine may have another port. */
const lineOf = ({ method, origin, path, tool }: RunSend): string =>
  [method, origin.replace(/(127\.0\.0\.1|localhost|\[::1\]):\d+$/, "$1"), path, tool].join(" ");

/** What the services received: of a call through a gateway, what the gateway has sent on. */
export const writesOf = ({ sends }: RunLog): readonly RunSend[] =>
  sends.filter(({ kind, isRelay }) => kind === "write" && !isRelay);

export function compareRuns(base: RunLog, run: RunLog): readonly SentAgain[] {
  const usually = groupsOf(writesOf(base), lineOf);
  return [...groupsOf(writesOf(run), lineOf)].flatMap(([line, sends]) => {
    const usual = usually.get(line) ?? [];
    const pair = repeatIn(sends, usual) ?? rewordingIn(sends, usual);
    if (!pair) return [];
    const [first, again] = pair;
    const isSameBody = first.same === again.same;
    const [these, before] = isSameBody ? [like(first, sends), like(first, usual)] : [sends, usual];
    const found: SentAgain = {
      write: nameOf(first),
      sent: these.length,
      withoutFaults: Math.min(usual.length, allowed(before)),
      isSameBody,
      isKeyed: isKeyed(these, before),
      layer: nameLayer(first, again, run.sends),
    };
    return [found];
  });
}

type Pair = readonly [first: RunSend, again: RunSend];

const like = ({ same }: RunSend, sends: readonly RunSend[]): readonly RunSend[] =>
  sends.filter((send) => send.same === same);

/** How often these may go out: one that the usual run did not make may be the consequence of the fault. */
const allowed = (usual: readonly RunSend[]): number => Math.max(usual.length, 1);

function isKeyed(sends: readonly RunSend[], usual: readonly RunSend[]): boolean {
  const keys = new Set(sends.map(({ key }) => key));
  return !keys.has(undefined) && keys.size <= allowed(usual);
}

/**
 * What goes out more often than usual with the same body; the broken one before others. Also where no more was sent in all: the
 * agent may have ended before it came to the rest.
 */
function repeatIn(sends: readonly RunSend[], usual: readonly RunSend[]): Pair | undefined {
  const isMore = (send: RunSend) => like(send, sends).length > allowed(like(send, usual));
  const first = sends.find((send) => send.isBroken && isMore(send)) ?? sends.find(isMore);
  const again = first && like(first, sends.slice(sends.indexOf(first) + 1))[0];
  return again && [first, again];
}

/** The broken one with another body: a model words it anew. Of other writes that is no repeat, but an apology, say. */
function rewordingIn(sends: readonly RunSend[], usual: readonly RunSend[]): Pair | undefined {
  const first = sends.length > allowed(usual) ? sends.find(({ isBroken }) => isBroken) : undefined;
  if (!first) return undefined;
  const later = sends.slice(sends.indexOf(first) + 1);
  const again = later.find((send) => like(send, usual).length === 0) ?? later.at(-1);
  return again && [first, again];
}

function groupsOf<T>(all: readonly T[], nameOfOne: (one: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const name = nameOfOne(one);
    groups.set(name, [...(groups.get(name) ?? []), one]);
  }
  return groups;
}
