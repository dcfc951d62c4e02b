/**
 * Virtual time. One timeline for the whole world; each host (a simulated machine with one process)
 * sees it through a clock of its own, which can be stepped, frozen, suspended and killed.
 */

import type { Clock } from "../../../src/lang/clock.ts";

/** `suspended`: the monotonic clock stands still as well, as on a laptop whose lid was closed. */
export type Freeze = "stopped" | "suspended";

export interface Host {
  readonly name: string;
  readonly clock: Clock;
  state(): "running" | "frozen" | "dead";
  /** Hands over what came by wire: now, after the thaw, or never. */
  deliver(call: () => void): void;
  stepWall(ms: number): void;
  freeze(how: Freeze): void;
  /** After a stop either the timers that are due or the replies that came are seen first. */
  thaw(first: "timers" | "replies"): Promise<void>;
  kill(): void;
  /** How long it has stood still so far. */
  frozenMs(): number;
  /** Timers that would keep the process alive. */
  timers(): number;
}

export interface Timeline {
  /** True time, which is also the store's. */
  now(): number;
  after(ms: number, call: () => void): () => void;
  host(name: string): Host;
  /** Lets time pass: timers fire in order, and all promises settle in between. */
  advance(ms: number): Promise<void>;
  /** Lets all promises settle. */
  drain(): Promise<void>;
  /** Advances to the next timer; false if there is none. */
  step(): Promise<boolean>;
}

interface Timer {
  due: number;
  readonly seq: number;
  readonly call: () => void;
  readonly owner: Machine | undefined;
  readonly idle: boolean;
}

interface Machine {
  state: "running" | "frozen" | "dead";
  how: Freeze;
  frozenAt: number;
  frozenMs: number;
  wallOffset: number;
  monotonicLost: number;
  inbox: (() => void)[];
}

const START = 1_800_000_000_000;

// The engine waits for nothing but promises and this clock, so one turn of the loop settles them all.
const drain = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export function createTimeline(): Timeline {
  let time = START;
  let seq = 0;
  const timers = new Set<Timer>();

  function add(ms: number, call: () => void, owner?: Machine, idle = false): () => void {
    seq += 1;
    // A host's clock cannot tell parts of a millisecond apart; rounding up never fires early.
    const due = time + Math.max(Math.ceil(ms), 0);
    const timer: Timer = { due, seq, call, owner, idle };
    timers.add(timer);
    return () => {
      timers.delete(timer);
    };
  }

  function next(until: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.due > until || timer.owner?.state === "frozen") continue;
      if (!first || timer.due < first.due || (timer.due === first.due && timer.seq < first.seq)) {
        first = timer;
      }
    }
    return first;
  }

  async function fire(timer: Timer): Promise<void> {
    timers.delete(timer);
    time = Math.max(time, timer.due);
    timer.call();
    await drain();
  }

  async function advance(ms: number): Promise<void> {
    const until = time + ms;
    await drain();
    for (let timer = next(until); timer; timer = next(until)) await fire(timer);
    time = until;
  }

  function host(name: string): Host {
    const machine: Machine = {
      state: "running",
      how: "stopped",
      frozenAt: 0,
      frozenMs: 0,
      wallOffset: 0,
      monotonicLost: 0,
      inbox: [],
    };
    const bornAt = time;
    const standing = () => (machine.state === "frozen" ? time - machine.frozenAt : 0);
    const mine = () => [...timers].filter(({ owner }) => owner === machine);
    return {
      name,
      clock: {
        now: () => time + machine.wallOffset,
        monotonic: () => time - bornAt - machine.monotonicLost,
        after: (ms, call, idle) =>
          machine.state === "dead" ? () => {} : add(ms, call, machine, idle),
      },
      state: () => machine.state,
      deliver(call) {
        if (machine.state === "running") call();
        else if (machine.state === "frozen") machine.inbox.push(call);
      },
      stepWall(ms) {
        machine.wallOffset += ms;
      },
      freeze(how) {
        if (machine.state === "running")
          Object.assign(machine, { state: "frozen", how, frozenAt: time });
      },
      async thaw(first) {
        if (machine.state !== "frozen") return;
        const stood = standing();
        machine.state = "running";
        machine.frozenMs += stood;
        if (machine.how === "suspended") {
          machine.monotonicLost += stood;
          for (const timer of mine()) timer.due += stood;
        }
        if (first === "timers") await advance(0);
        const { inbox } = machine;
        machine.inbox = [];
        for (const call of inbox) {
          if (machine.state !== "running") return;
          call();
          await drain();
        }
        await advance(0);
      },
      kill() {
        machine.frozenMs += standing();
        machine.state = "dead";
        machine.inbox = [];
        for (const timer of mine()) timers.delete(timer);
      },
      frozenMs: () => machine.frozenMs + standing(),
      timers: () => mine().filter(({ idle }) => !idle).length,
    };
  }

  return {
    now: () => time,
    after: (ms, call) => add(ms, call),
    host,
    advance,
    drain,
    async step() {
      await drain();
      const timer = next(Number.POSITIVE_INFINITY);
      if (timer) await fire(timer);
      return timer !== undefined;
    },
  };
}
