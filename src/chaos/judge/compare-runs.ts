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
  /** How often it was sent in this run. */
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
  const before = groupsOf(writesOf(base), lineOf);
  return [...groupsOf(writesOf(run), lineOf)].flatMap(([line, sends]) => {
    const usual = before.get(line) ?? [];
    const allowed = Math.max(usual.length, 1);
    const pair = sends.length > allowed ? pairIn(sends, usual) : undefined;
    if (!pair) return [];
    const [first, again] = pair;
    const keys = new Set(sends.map(({ key }) => key));
    const found: SentAgain = {
      write: nameOf(first),
      sent: sends.length,
      withoutFaults: usual.length,
      isSameBody: first.same === again.same,
      isKeyed: !keys.has(undefined) && keys.size <= allowed,
      layer: nameLayer(first, again, run.sends),
    };
    return [found];
  });
}

/**
 * The broken one and its repeat, which may have another body: a model words it anew. Elsewhere only what goes out more
 * often than usual with the same body is a repeat; an apology to the customer is not.
 */
function pairIn(
  sends: readonly RunSend[],
  usual: readonly RunSend[],
): readonly [RunSend, RunSend] | undefined {
  const countIn = (list: readonly RunSend[], same: string) =>
    list.filter((send) => send.same === same).length;
  const isMore = ({ same }: RunSend) => countIn(sends, same) > Math.max(countIn(usual, same), 1);
  const first = sends.find(({ isBroken }) => isBroken) ?? sends.find(isMore);
  if (!first) return undefined;
  const later = sends.slice(sends.indexOf(first) + 1);
  const reworded = first.isBroken
    ? (later.find(({ same }) => countIn(usual, same) === 0) ?? later.at(-1))
    : undefined;
  const again = later.find(({ same }) => same === first.same) ?? reworded;
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
