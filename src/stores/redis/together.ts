/**
 * Changes that are asked for at the same time go out as one script: to send a command and to read its
 * answer costs client and server more than the change itself.
 *
 * @module
 */

import { soon } from "../../lang/clock.ts";

interface Waiting<Job, Answer> {
  readonly job: Job;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** One is under work while the other is on its way: with more, jobs wait for each other. */
const AT_ONCE = 2;
/** About 0.2 ms, in which the server does nothing else. */
const MAX_JOBS = 16;

/** Jobs of the same name go together. `isRefusal` tells that the server has answered, with an error. */
export function createTogether<Job, Answer>(
  run: (jobs: readonly Job[]) => Promise<readonly Answer[]>,
  isRefusal: (error: unknown) => boolean,
): (name: string, job: Job) => Promise<Answer> {
  let waiting = new Map<string, Waiting<Job, Answer>[]>();
  /** How many scripts are on their way. */
  let running = 0;

  async function send(group: readonly Waiting<Job, Answer>[]): Promise<void> {
    running += 1;
    try {
      const answers = await run(group.map(({ job }) => job));
      for (const [place, { resolve }] of group.entries()) resolve(answers[place] as Answer);
    } catch (error) {
      // One of several is to blame. Those that were made already are known by their nonces.
      const goAlone = group.length > 1 && isRefusal(error);
      for (const one of group) goAlone ? void send([one]) : one.reject(error);
    }
    running -= 1;
  }

  function sendAll(): void {
    const groups = waiting;
    waiting = new Map();
    for (const group of groups.values()) void send(group);
  }

  /** Few jobs go at once; while others are on their way the turn of the event loop ends first. */
  return (name, job) =>
    new Promise((resolve, reject) => {
      const one = { job, resolve, reject };
      if (running < AT_ONCE) return void send([one]);
      if (waiting.size === 0) soon(sendAll);
      const group = waiting.get(name) ?? [];
      waiting.set(name, group);
      if (group.push(one) < MAX_JOBS) return;
      waiting.delete(name);
      void send(group);
    });
}
