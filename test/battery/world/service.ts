/**
 * The simulated remote service. It keeps the truth: an append-only log of effects.
 *
 * It honours what tools declare of it: a commit comes within `TIMES.commitsWithin` of the end of its
 * request or never (the reader's lag included), and a key is remembered for `TIMES.keyMemory`.
 */

import {
  absent,
  committed,
  duplicated,
  inProgress,
  type Reading,
} from "../../../src/engine/define/reading.ts";
import type { Chance } from "./chance.ts";
import type { Host, Timeline } from "./clock.ts";
import { courseOf } from "./courses.ts";
import type { Fate, Hits } from "./fates.ts";
import { createMemory } from "./memory.ts";
import type { Sent, Wish } from "./network.ts";
import { failure, type Reply, type Result } from "./reply.ts";
import { TIMES, type ToolClass, traitsOf } from "./settings.ts";

export interface Effect {
  readonly id: string;
  readonly op: string;
  readonly key: string | undefined;
  readonly at: number;
  readonly visibleAt: number;
  readonly sent: Sent;
}

/** Says it to whoever asked; in `ms`, if that is given. */
export type Answer = (reply: Reply, ms?: number) => void;

export interface Service {
  readonly effects: readonly Effect[];
  exists(op: string): boolean;
  version(resource: string): number;
  /** A request is on its way to the service. */
  expect(op: string): void;
  arrive(wish: Wish, sent: Sent, fate: Fate, answer: Answer): void;
  /** How many requests of an operation may still commit. */
  pending(op: string): number;
  look(tool: ToolClass, keys: readonly string[]): Reading<Result>;
  /** The host is gone or stands still: its open requests end, each in so many milliseconds. */
  hangUp(host: Host, inMs: (op: string) => number): void;
}

export interface ServiceSurroundings {
  readonly time: Timeline;
  readonly chance: Chance;
  readonly hits: Hits;
}

export function createService({ time, chance, hits }: ServiceSurroundings): Service {
  const effects: Effect[] = [];
  const versions = new Map<string, number>();
  const pendings = new Map<string, number>();
  const memory = createMemory(time);
  /** Until when a commit is still to come, by key. */
  const working = new Map<string, number>();
  const open = new Set<{ readonly host: Host; readonly op: string; readonly end: () => void }>();
  const version = (resource: string) => versions.get(resource) ?? 1;
  const addPending = (op: string, by: number) => pendings.set(op, (pendings.get(op) ?? 0) + by);
  const lag = () => (chance.next() < 0.3 ? 500 : 0);

  /** The write itself, whole or not at all. */
  function commit(wish: Wish, sent: Sent, lagMs = 0): Reply {
    const { op, tool, key, resource } = wish;
    if (traitsOf(tool).conditional && wish.precondition !== version(resource)) {
      return failure("rejected", 412);
    }
    versions.set(resource, version(resource) + 1);
    const id = `effect-${effects.length + 1}`;
    effects.push({ id, op, key, at: time.now(), visibleAt: time.now() + lagMs, sent });
    return { said: "yes", result: { effect: id, op } };
  }

  function arrive(wish: Wish, sent: Sent, fate: Fate, answer: Answer): void {
    const { op, tool, key } = wish;
    const { honours, conditional, lies } = traitsOf(tool);
    const slot = honours && key !== undefined ? memory.slot(key) : undefined;
    const known = slot?.begin();
    if (known) {
      hits.hit("service:key-replayed");
      addPending(op, -1);
      answer(known);
      return;
    }
    const { commits, says, storesSaid, slow, poison, twice } = courseOf(fate, op, lies === true);
    /** The write is decided on: the service remembers, and says what it has to say. */
    const done = (truth: Reply | undefined): Reply | undefined => {
      addPending(op, -1);
      // A precondition that no longer holds comes before anything else.
      const no = truth && truth.said !== "yes" ? truth : undefined;
      const said = no ?? (says === "silence" ? undefined : (says ?? truth));
      const kept = no ?? (storesSaid ? said : truth);
      if (kept) slot?.keep(kept);
      else slot?.forget();
      return said?.said === "yes" && poison ? { ...said, poison } : said;
    };
    if (commits === "after-reply") {
      if (says && says !== "silence") answer(says);
      late(wish, sent, done);
    } else if (commits === "after-end") {
      whenEnded(wish, () =>
        late(wish, sent, (truth) => {
          const said = done(truth);
          if (said) answer(said);
        }),
      );
    } else {
      const said = done(commits && commit(wish, sent, says ? lag() : 0));
      const givenUp = sent.at + TIMES.attempt + chance.between(5, 3_000) - time.now();
      if (said) answer(said, slow ? givenUp : undefined);
      if (twice && (slot || conditional)) again(wish, sent);
    }
  }

  /** The network delivers it once more; whoever can tell does nothing. */
  function again(wish: Wish, sent: Sent): void {
    addPending(wish.op, 1);
    arrive(wish, sent, "ok", () => {});
  }

  /** A request has ended when `run` is told to stop, or its process is gone. */
  function whenEnded({ host, op, signal }: Wish, ended: () => void): void {
    const request = {
      host,
      op,
      end: () => {
        if (open.delete(request)) ended();
      },
    };
    open.add(request);
    if (signal.aborted || host.state() !== "running") request.end();
    else signal.addEventListener("abort", request.end, { once: true });
  }

  /** The request has ended; the commit comes just within what the tool declares, its reader's lag included. */
  function late(wish: Wish, sent: Sent, done: (truth: Reply) => unknown): void {
    const lagMs = lag();
    const longest = TIMES.commitsWithin - lagMs;
    const wait = chance.next() < 0.5 ? longest : chance.between(1, longest);
    if (wish.key !== undefined) working.set(wish.key, time.now() + wait);
    time.after(wait, () => done(commit(wish, sent, lagMs)));
  }

  function look(tool: ToolClass, keys: readonly string[]): Reading<Result> {
    const now = time.now();
    const results = effects
      .filter(({ key, visibleAt }) => key !== undefined && keys.includes(key) && visibleAt <= now)
      .map(({ id, op }): Result => ({ effect: id, op }));
    const [first] = results;
    if (!first || traitsOf(tool).blind) {
      const atIt = keys.some((key) => (working.get(key) ?? 0) > now);
      return atIt && chance.next() < 0.8 ? inProgress() : absent();
    }
    return results.length > 1 ? duplicated(results) : committed(first, { effectId: first.effect });
  }

  return {
    effects,
    exists: (op) => effects.some((effect) => effect.op === op),
    version,
    expect: (op) => void addPending(op, 1),
    arrive,
    pending: (op) => pendings.get(op) ?? 0,
    look,
    hangUp(host, inMs) {
      for (const request of open) {
        if (request.host === host) time.after(inMs(request.op), request.end);
      }
    },
  };
}
