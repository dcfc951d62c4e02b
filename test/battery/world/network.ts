/** Between a process and the service: requests, reads and their replies, and a log of all that was sent. */

import { absent, cannotTell, type Reading } from "../../../src/engine/define/reading.ts";
import type { Chance } from "./chance.ts";
import type { Host, Timeline } from "./clock.ts";
import type { Fate, Hits, ReadFate } from "./fates.ts";
import { exchange, type Hear, type Heard, type Origin } from "./http.ts";
import { failure, type Reply, type Result, resultOf, statusOf } from "./reply.ts";
import type { Service } from "./service.ts";
import { TIMES, type ToolClass } from "./settings.ts";

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
  /** Whether `run` has settled by now. */
  readonly isLeftBehind?: (() => boolean) | undefined;
  /** `run` tells something else than what it was answered. */
  readonly distorts?: boolean | undefined;
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
  /** It was made after its `run` had settled. */
  readonly late: boolean;
  /** Its `run` tells something else than what it was answered. */
  readonly distorted: boolean;
  /** What the service said to it, if it did; `undefined` while, or because, it is not known. */
  answer?: Reply["said"] | undefined;
  status?: number | undefined;
  /** The process that sent it has seen the answer, and when. */
  heard: boolean;
  heardAt?: number | undefined;
}

export interface Answered {
  readonly status: number;
  readonly answer: Reply;
}

/** How a message travels: in so many milliseconds, or as a test arranges it. */
export type Transit = (ms: number, call: () => void, label: string) => void;

export interface Network {
  readonly sends: readonly Sent[];
  /** Out of sight of the wire token. */
  send(wish: Wish, fate: Fate): Promise<unknown>;
  /** By the simulated HTTP client. */
  request(wish: Wish, fate: Fate): Promise<Answered>;
  /** A write beside the effect, to be answered like this. */
  notify(
    host: Host,
    origin: Origin,
    how: number | "refused",
    method?: "GET" | "POST",
  ): Promise<unknown>;
  read(
    tool: ToolClass,
    keys: readonly string[],
    host: Host,
    fate: ReadFate,
  ): Promise<Reading<Result>>;
}

export interface NetworkSurroundings {
  readonly time: Timeline;
  readonly chance: Chance;
  readonly transit: Transit;
  readonly hits: Hits;
  readonly service: Service;
  /** How many writes the ledger has seen. */
  readonly ledgerAt: () => number;
}

export function createNetwork(surroundings: NetworkSurroundings): Network {
  const { time, chance, transit, hits, service, ledgerAt } = surroundings;
  const sends: Sent[] = [];
  const delay = () => chance.between(1, 40);

  function note(wish: Wish, fate: Fate, late = false): Sent {
    const { op, tool, attempt, key, host, resource } = wish;
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
      late,
      distorted: wish.distorts === true,
      heard: false,
    };
    sends.push(sent);
    return sent;
  }

  function send(wish: Wish, fate: Fate): Promise<unknown> {
    hits.hit(`fate:${fate}`);
    const { op, host, signal, heeds } = wish;
    const sent = note(wish, fate);
    if (fate === "sync-throw") throw new Error("run is broken");
    return new Promise((resolve, reject) => {
      let settled = false;
      const settle = (how: () => void) => {
        if (settled) return;
        settled = true;
        how();
      };
      const hear = (reply: Reply) => {
        sent.heard = true;
        sent.heardAt = time.now();
        if (reply.said === "yes") resolve(resultOf(reply));
        else reject(reply.error);
      };
      const answer = (reply: Reply, ms = delay()) => {
        noteAnswer(sent, reply);
        transit(ms, () => host.deliver(() => settle(() => hear(reply))), "reply");
      };
      const giveUp = () => settle(() => reject(failure("reset").error));
      if (heeds) signal.addEventListener("abort", giveUp, { once: true });
      if (fate === "not-sent") answer(failure("not-sent"), 1);
      else if (fate === "lost-request") answer(failure("reset"));
      else {
        service.expect(op);
        transit(delay(), () => service.arrive(wish, sent, fate, answer), "request");
      }
    });
  }

  const connect = (host: Host, refused: boolean) => (done: (refused: boolean) => void) =>
    transit(delay(), () => host.deliver(() => done(refused)), "connect");

  function request(wish: Wish, fate: Fate): Promise<Answered> {
    hits.hit(`fate:${fate}`);
    const { op, host, signal, heeds } = wish;
    const late = wish.isLeftBehind?.() === true;
    function depart(hear: Hear<Reply>): void {
      const sent = note(wish, fate, late);
      if (late) hits.hit("wire:late");
      const answer = (reply: Reply, ms = delay()) => {
        noteAnswer(sent, reply);
        const arrive = () => {
          sent.heard = hear(heardAs(reply));
          sent.heardAt = time.now();
        };
        transit(ms, () => host.deliver(arrive), "reply");
      };
      if (fate === "lost-request") answer(failure("reset"));
      else {
        service.expect(op);
        transit(delay(), () => service.arrive(wish, sent, fate, answer), "request");
      }
    }
    const isRefused = fate === "not-sent";
    return exchange(
      { origin: "service", path: "/pay", connect: connect(host, isRefused), depart },
      heeds ? signal : undefined,
    );
  }

  function notify(
    host: Host,
    origin: Origin,
    how: number | "refused",
    method: "GET" | "POST" = "POST",
  ): Promise<unknown> {
    const depart = (hear: Hear<undefined>): void => {
      const heard = { status: Number(how), answer: undefined };
      transit(delay(), () => host.deliver(() => hear(heard)), "notified");
    };
    const road = { method, origin, path: "/notify", connect: connect(host, how === "refused") };
    return exchange({ ...road, depart }, undefined);
  }

  function read(
    tool: ToolClass,
    keys: readonly string[],
    host: Host,
    fate: ReadFate,
  ): Promise<Reading<Result>> {
    hits.hit(`read:${fate}`);
    return new Promise((resolve, reject) => {
      const back = (call: () => void, ms = delay()) =>
        transit(ms, () => host.deliver(call), "reading");
      if (fate === "hang") return;
      if (fate === "fail") back(() => reject(new Error("the reader is broken")));
      else if (fate === "nonsense") back(() => resolve({ reading: "perhaps" } as never));
      else if (fate === "cannot_tell") back(() => resolve(cannotTell("maintenance")));
      else if (fate === "unanswered") {
        // A list that was not answered, and that the reader takes for an empty one.
        notify(host, "service", 503, "GET").then(() => resolve(absent()), reject);
      } else {
        const look = () => {
          const reading = service.look(tool, keys);
          back(() => resolve(reading), fate === "slow" ? TIMES.read + 200 : undefined);
        };
        transit(delay(), look, "read");
      }
    });
  }

  return { sends, send, request, notify, read };
}

function noteAnswer(sent: Sent, reply: Reply): void {
  sent.answer = reply.said;
  sent.status = statusOf(reply);
}

function heardAs(reply: Reply): Heard<Reply> {
  const status = statusOf(reply);
  return status === undefined ? { status: "reset" } : { status, answer: reply };
}
