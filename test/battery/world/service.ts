/**
 * The simulated remote service. It keeps the truth: an append-only log of effects, and one of all
 * that was sent to it.
 *
 * It honours what tools declare of it: a commit comes within `TIMES.commitsWithin` of the end of its
 * request or never (the reader's lag included), and a key is remembered for `TIMES.keyMemory`.
 */

import { absent, cannotTell, committed, duplicated, inProgress, type Reading } from "../../../src/engine/reading.ts";
import type { Chance } from "./chance.ts";
import type { Host, Timeline } from "./clock.ts";
import type { Fate, Hits, ReadFate } from "./fates.ts";
import { createMemory, type Memory } from "./memory.ts";
import { answerOf, failure, type Reply, type Result } from "./reply.ts";
import { TIMES, type ToolClass, traitsOf } from "./settings.ts";

/** One request, as the tool makes it. */
export interface Wish {
  /** Names the operation in the logs. The service itself does not look at it. */
  readonly op: string;
  readonly tool: ToolClass;
  readonly attempt: number;
  readonly key: string | undefined;
  readonly resource: string;
  readonly precondition: unknown;
  readonly host: Host;
  readonly signal: AbortSignal;
  /** Whether `run` ends when it is told to. */
  readonly heeds: boolean;
}

export interface Sent {
  readonly seq: number;
  readonly op: string;
  readonly tool: ToolClass;
  readonly attempt: number;
  readonly key: string | undefined;
  readonly by: string;
  readonly resource: string;
  readonly at: number;
  readonly fate: Fate;
  /** How many writes the ledger had seen when it was sent. */
  readonly ledgerAt: number;
  /** What the service said to it, if it did; `undefined` while, or because, it is not known. */
  answer?: Reply["said"] | undefined;
  /** The process that sent it has seen the answer. */
  heard: boolean;
  heardAt?: number | undefined;
}

export interface Effect {
  readonly id: string;
  readonly op: string;
  readonly key: string | undefined;
  readonly at: number;
  readonly visibleAt: number;
  readonly sent: Sent;
}

export interface Service {
  readonly sends: readonly Sent[];
  readonly effects: readonly Effect[];
  /** How many requests of an operation may still commit. */
  pending(op: string): number;
  version(resource: string): number;
  send(wish: Wish, fate: Fate): Promise<unknown>;
  read(tool: ToolClass, keys: readonly string[], host: Host, fate: ReadFate): Promise<Reading<Result>>;
  exists(op: string): boolean;
  /** The host is gone or stands still: its open requests end, each in so many milliseconds. */
  hangUp(host: Host, inMs: (op: string) => number): void;
}

export type Transit = (ms: number, call: () => void, label: string) => void;

export interface ServiceSurroundings {
  readonly time: Timeline;
  readonly chance: Chance;
  readonly transit: Transit;
  readonly hits: Hits;
  /** How many writes the ledger has seen. */
  readonly ledgerAt: () => number;
}

export function createService({ time, chance, transit, hits, ledgerAt }: ServiceSurroundings): Service {
  const sends: Sent[] = [];
  const effects: Effect[] = [];
  const versions = new Map<string, number>();
  const pendings = new Map<string, number>();
  const memory: Memory = createMemory(time);
  const open = new Set<{ readonly host: Host; readonly op: string; readonly end: () => void }>();
  const delay = () => chance.between(1, 40);
  const version = (resource: string) => versions.get(resource) ?? 1;
  const addPending = (op: string, by: number) => pendings.set(op, (pendings.get(op) ?? 0) + by);

  /** The write itself, whole or not at all. */
  function commit(wish: Wish, sent: Sent, lag = 0): Reply {
    const { op, tool, key, resource } = wish;
    if (traitsOf(tool).conditional && wish.precondition !== version(resource)) {
      return failure("rejected", 412);
    }
    versions.set(resource, version(resource) + 1);
    const id = `effect-${effects.length + 1}`;
    effects.push({ id, op, key, at: time.now(), visibleAt: time.now() + lag, sent });
    return { said: "yes", result: { effect: id, op } };
  }

  function arrive(wish: Wish, sent: Sent, fate: Fate, answer: (reply: Reply, ms?: number) => void): void {
    const { op, tool, key } = wish;
    const { honours, lies } = traitsOf(tool);
    const slot = honours && key !== undefined ? memory.slot(key) : undefined;
    const known = slot?.begin();
    if (known) {
      hits.hit("service:key-replayed");
      addPending(op, -1);
      return answer(known);
    }
    const done = (reply: Reply): Reply => {
      addPending(op, -1);
      slot?.keep(reply);
      return reply;
    };
    const forget = (reply: Reply): Reply => {
      addPending(op, -1);
      slot?.forget();
      return reply;
    };
    const givenUp = sent.at + TIMES.attempt + chance.between(5, 3_000) - time.now();
    switch (fate) {
      case "lie":
      case "lie-slow":
        if (!lies) return answer(done(commit(wish, sent)));
        addPending(op, -1);
        sent.answer = "yes";
        return answer(
          { said: "yes", result: { effect: "none", op } },
          fate === "lie" ? undefined : givenUp,
        );
      case "lost-reply":
        done(commit(wish, sent, lagOf(chance)));
        return answer(failure("reset"));
      case "slow":
        return answer(done(commit(wish, sent)), givenUp);
      case "error-after": {
        const reply = commit(wish, sent);
        if (reply.said !== "yes") return answer(done(reply));
        done(failure("error", 500));
        return answer(failure("error", 500));
      }
      case "error-stored":
        return answer(done(failure("error", 500)));
      case "error-before":
        return answer(forget(failure("error", 500)));
      case "rejected":
        return answer(done(failure("rejected", 402)));
      case "refused":
        return answer(forget(failure("refused", 429)));
      case "busy":
        return answer(forget(failure("busy", 503)));
      case "silent-before":
        forget(failure("reset"));
        return;
      case "silent-after":
        done(commit(wish, sent));
        return;
      case "frozen-before":
        return answer(forget(answerOf("frozen")));
      case "null-after":
      case "hostile-after": {
        const reply = done(commit(wish, sent));
        return answer(reply.said === "yes" ? answerOf(fate === "null-after" ? "null" : "hostile") : reply);
      }
      case "circular":
      case "bigint": {
        const reply = done(commit(wish, sent));
        return answer(reply.said === "yes" ? { ...reply, poison: fate } : reply);
      }
      case "twice": {
        const reply = done(commit(wish, sent));
        if (slot) arriveAgain(wish, sent);
        else if (traitsOf(tool).conditional) commit(wish, sent);
        return answer(reply);
      }
      case "late-commit": {
        answer(failure("reset"));
        return late(wish, sent, done);
      }
      case "slow-late": {
        const ended = { host: wish.host, op, end: () => {} };
        ended.end = () => {
          if (!open.delete(ended)) return;
          late(wish, sent, (reply) => {
            answer(done(reply));
            return reply;
          });
        };
        open.add(ended);
        if (wish.signal.aborted || wish.host.state() !== "running") ended.end();
        else wish.signal.addEventListener("abort", ended.end, { once: true });
        return;
      }
      default:
        return answer(done(commit(wish, sent)));
    }
  }

  function arriveAgain(wish: Wish, sent: Sent): void {
    addPending(wish.op, 1);
    arrive(wish, sent, "ok", () => {});
  }

  /** The request has ended; the commit comes just within what the tool declares, its reader's lag included. */
  function late(wish: Wish, sent: Sent, done: (reply: Reply) => Reply): void {
    const lag = lagOf(chance);
    const longest = TIMES.commitsWithin - lag;
    const wait = chance.next() < 0.5 ? longest : chance.between(1, longest);
    time.after(wait, () => done(commit(wish, sent, lag)));
  }

  return {
    sends,
    effects,
    pending: (op) => pendings.get(op) ?? 0,
    version,
    exists: (op) => effects.some((effect) => effect.op === op),
    send(wish, fate) {
      hits.hit(`fate:${fate}`);
      const { op, tool, attempt, key, host, signal, resource } = wish;
      const sent: Sent = {
        seq: sends.length + 1,
        op,
        tool,
        attempt,
        key,
        by: host.name,
        resource,
        at: time.now(),
        fate,
        ledgerAt: ledgerAt(),
        heard: false,
      };
      sends.push(sent);
      if (fate === "sync-throw") throw new Error("run is broken");
      return new Promise((resolve, reject) => {
        let settled = false;
        const answer = (reply: Reply, ms = delay()) => {
          sent.answer = reply.said;
          transit(
            ms,
            () =>
              host.deliver(() => {
                if (settled) return;
                settled = true;
                sent.heard = true;
                sent.heardAt = time.now();
                if (reply.said === "yes") resolve(answerOf(reply));
                else reject(reply.error);
              }),
            "reply",
          );
        };
        const giveUp = () => {
          if (settled) return;
          settled = true;
          reject(failure("reset").error);
        };
        if (wish.heeds) signal.addEventListener("abort", giveUp, { once: true });
        if (fate === "not-sent") return answer(failure("not-sent"), 1);
        if (fate === "lost-request") return answer(failure("reset"));
        addPending(op, 1);
        transit(delay(), () => arrive(wish, sent, fate, answer), "request");
      });
    },
    read(tool, keys, host, fate) {
      hits.hit(`read:${fate}`);
      return new Promise((resolve, reject) => {
        const answer = (call: () => void, ms = delay()) => transit(ms, () => host.deliver(call), "reading");
        if (fate === "hang") return;
        if (fate === "fail") return answer(() => reject(new Error("the reader is broken")));
        if (fate === "nonsense") return answer(() => resolve({ reading: "perhaps" } as never));
        if (fate === "cannot-tell") return answer(() => resolve(cannotTell("maintenance")));
        transit(delay(), () => {
          const found = effects.filter(
            ({ key, visibleAt }) => key !== undefined && keys.includes(key) && visibleAt <= time.now(),
          );
          const results = found.map(({ id, op }): Result => ({ effect: id, op }));
          const [first] = results;
          const busy = keys.some((key) => memory.isRunning(key)) && chance.next() < 0.7;
          const reading: Reading<Result> =
            traitsOf(tool).blind || !first
              ? busy
                ? inProgress()
                : absent()
              : results.length > 1
                ? duplicated(results)
                : committed(first, { effectId: first.effect });
          answer(() => resolve(reading), fate === "slow" ? TIMES.read + 200 : undefined);
        }, "read");
      });
    },
    hangUp(host, inMs) {
      for (const request of open) {
        if (request.host === host) time.after(inMs(request.op), request.end);
      }
    },
  };
}

const lagOf = (chance: Chance): number => (chance.next() < 0.3 ? 500 : 0);
