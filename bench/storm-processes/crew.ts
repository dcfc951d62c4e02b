/**
 * The processes of a storm: each post has one that works on jobs, and gets a new one when it is killed. Of the jobs
 * that die with their process, one half is delivered again at once, to whoever is free. Of the others nobody asks any
 * more: they are left behind.
 *
 * @module
 */

import type { Chance } from "../../test/battery/world/chance.ts";
import { ProcessEndedError } from "../battery/run/remote.ts";
import type { Worker } from "../battery/run/workers.ts";

export interface Crew<Job> {
  /** Until every job is done or left behind, also those that come back meanwhile. */
  work(jobs: readonly Job[]): Promise<void>;
  /** One that works is killed, if there is one, and another starts in its place. */
  killOne(): void;
  readonly workers: () => readonly Worker[];
  readonly counts: () => { readonly kills: number; readonly cutOff: number };
  end(): Promise<void>;
}

export interface CrewParts<Job> {
  readonly size: number;
  /** How many jobs one process has under way. */
  readonly atOnce: number;
  readonly chance: Chance;
  /** A new process, ready to work. */
  readonly start: () => Promise<Worker>;
  /** Does one job; `"again"` delivers it once more, at the end. */
  readonly run: (job: Job, worker: Worker) => Promise<"done" | "again">;
}

interface Post {
  worker: Promise<Worker>;
  /** The same, once it is ready. */
  ready?: Worker | undefined;
}

export async function startCrew<Job>(parts: CrewParts<Job>): Promise<Crew<Job>> {
  const { size, atOnce, chance, start, run } = parts;
  const fill = (post: Partial<Post>): Post => {
    const worker = start();
    const filled: Post = Object.assign(post, { worker, ready: undefined });
    worker.then(
      (ready) => {
        filled.ready = ready;
      },
      // Whoever has a job for it hears of it.
      () => {},
    );
    return filled;
  };
  const posts = Array.from({ length: size }, () => fill({}));
  await Promise.all(posts.map(({ worker }) => worker));
  let queue: Job[] = [];
  let underWay = 0;
  let kills = 0;
  let cutOff = 0;
  const dying = new Set<Promise<void>>();

  async function oneJob(job: Job, post: Post): Promise<void> {
    const worker = await post.worker;
    try {
      if ((await run(job, worker)) === "again") queue.push(job);
    } catch (error) {
      if (!(error instanceof ProcessEndedError)) throw error;
      cutOff += 1;
      if (chance.next() < 0.5) queue.unshift(job);
    }
  }

  /** One of the jobs that a process has under way; it waits for others, whose process may die. */
  async function lane(post: Post): Promise<void> {
    while (queue.length > 0 || underWay > 0) {
      const job = queue.shift();
      if (job === undefined) {
        await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
        continue;
      }
      underWay += 1;
      try {
        await oneJob(job, post);
      } finally {
        underWay -= 1;
      }
    }
  }

  return {
    async work(jobs) {
      queue = [...jobs];
      await Promise.all(posts.flatMap((post) => Array.from({ length: atOnce }, () => lane(post))));
    },
    killOne() {
      const able = posts.filter(({ ready }) => ready !== undefined);
      const post = able[chance.between(0, able.length - 1)];
      if (!post?.ready) return;
      kills += 1;
      const death = post.ready.kill().finally(() => dying.delete(death));
      dying.add(death);
      fill(post);
    },
    workers: () => posts.flatMap(({ ready }) => ready ?? []),
    counts: () => ({ kills, cutOff }),
    async end() {
      await Promise.allSettled([
        ...dying,
        ...posts.map(async ({ worker }) => (await worker).end()),
      ]);
    },
  };
}

const IDLE_MS = 20;
