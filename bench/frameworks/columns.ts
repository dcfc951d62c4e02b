/**
 * The columns: what may make one request of a person happen twice, and how many effects it must have.
 *
 * @module
 */

import { faults } from "../../src/testing/faulty-service.ts";
import { AGAIN, PAY, type Stage, WORDS } from "./stage.ts";

/** Plays one way in which a framework runs a tool again. */
export type Play = (stage: Stage) => Promise<unknown>;

/** Why a framework has no such way. */
export interface None {
  readonly none: string;
}

/** One run of the agent over what persons have said. */
export interface Run {
  readonly said: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

export interface Framework {
  readonly name: string;
  /** Starts an agent with the tool `pay` and runs it to its end. */
  readonly run: ((stage: Stage, run: Run) => Promise<unknown>) | None;
  /** The framework makes a failed tool call again by itself. */
  readonly ownRetry: Play | None;
  /** The process dies behind the effect and before it is written down; the run goes on from what was kept. */
  readonly resume: Play | None;
  readonly approval: Play | None;
}

export interface Column {
  readonly name: string;
  /** What happens, in a few words. */
  readonly means: string;
  /** The effects that it must have with holdfire. */
  readonly expected: number;
  readonly play: (framework: Framework) => Play | None;
}

const once = { said: [WORDS] };

/** A run by the framework's own agent; it may fail, as runs do. */
const plays =
  (play: (stage: Stage, run: (run: Run) => Promise<unknown>) => Promise<unknown>) =>
  ({ run }: Framework): Play | None =>
    typeof run === "function" ? (stage) => play(stage, async (one) => run(stage, one)) : run;

const ignored = (promise: Promise<unknown>): Promise<unknown> => promise.catch(() => undefined);

export const COLUMNS: readonly Column[] = [
  {
    name: "run again",
    means: "the run fails behind its tool call and is retried as a whole",
    expected: 1,
    play: plays(async ({ says }, run) => {
      says(PAY, { act: "status", status: 400 }, PAY);
      await ignored(run(once));
      await run(once);
    }),
  },
  {
    name: "own retry",
    means: "the framework retries a failed tool call by itself",
    expected: 1,
    play: ({ ownRetry }) => ownRetry,
  },
  {
    name: "resumed",
    means: "the process dies behind the effect and the run is resumed",
    expected: 1,
    play: ({ resume }) => resume,
  },
  {
    name: "approved twice",
    means: "a person's approval is sent twice",
    expected: 1,
    play: ({ approval }) => approval,
  },
  {
    name: "model repeats",
    means: "the model repeats the call with a new id and reordered arguments",
    expected: 1,
    play: plays(async ({ says }, run) => {
      says(PAY, AGAIN);
      await run(once);
    }),
  },
  {
    name: "two in a turn",
    means: "the model makes two identical calls at once",
    expected: 1,
    play: plays(async ({ says }, run) => {
      says({ calls: [PAY, PAY] });
      await run(once);
    }),
  },
  {
    name: "reply lost",
    means: "the reply is lost; the model calls again, and the run is run again",
    expected: 1,
    play: plays(async ({ says, service }, run) => {
      service.plan(faults.commitThenReset());
      says(PAY, AGAIN);
      await ignored(run(once));
      says(PAY);
      await ignored(run(once));
    }),
  },
  {
    name: "abort",
    means: "the run is aborted in execution and run again",
    expected: 1,
    play: plays(async ({ says, service }, run) => {
      service.plan(faults.blackHole({ commit: true }));
      const stop = new AbortController();
      says(PAY);
      const stopped = ignored(run({ ...once, signal: stop.signal }));
      await effectIn(service);
      stop.abort();
      await stopped;
      says(PAY);
      await run(once);
    }),
  },
  {
    name: "asked twice",
    means: "a person asks twice: two requests, two effects",
    expected: 2,
    play: plays(async ({ says }, run) => {
      says(PAY, { text: "Done." }, PAY);
      await run(once);
      await run({ said: [WORDS, WORDS] });
    }),
  },
];

const POLL_MS = 2;
const PATIENCE_MS = 10_000;

/** Waits for the first effect. */
export async function effectIn(service: Stage["service"]): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (service.effects.length === 0) {
    if (performance.now() > giveUpAt) throw new Error("no effect");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
