/**
 * One storm on one store: the jobs are delivered while processes die, then the survivors settle what is open, and the
 * judge looks.
 *
 * @module
 */

import { createChance } from "../../test/battery/world/chance.ts";
import { type Evidence, judge, type Score, type Told, verdictOf } from "../battery/judge.ts";
import type { Ground } from "../battery/run/ground.ts";
import type { ServiceLogs } from "../battery/run/service-process.ts";
import { startWorker, type Worker } from "../battery/run/workers.ts";
import type { Answer, Ask } from "../battery/stack.ts";
import type { StackId } from "../battery/stacks.ts";
import type { Report } from "../progress.ts";
import { type Crew, startCrew } from "./crew.ts";
import type { StormOptions } from "./options.ts";
import { logsOf, openSites, type Sites, standingsIn } from "./sites.ts";
import { type Job, jobsOf } from "./weather.ts";
import { wrongIn } from "./wrong.ts";

export interface Storm {
  readonly stack: StackId;
  readonly score: Score;
  readonly attemptsPerEffect: number;
  readonly answers: number;
  /** How often each fault was met, by its tag. */
  readonly faults: Readonly<Record<string, number>>;
  readonly reads: number;
  readonly kills: number;
  /** Calls that were under way in a process when it was killed. */
  readonly cutOff: number;
  /** Open when the last job was answered, and left to the survivors. */
  readonly leftOpen: number;
  /** The histories of wishes that went wrong. */
  readonly wrong: readonly string[];
  readonly seconds: number;
}

const AT_ONCE = 8;
/** How often an agent comes back to what was told as failed or in progress. */
const TRIES = 20;
/** All tries together are longer than the cooldown. */
const AGENT_PAUSE_MS = 2_000;
const PASSES = 20;
/** How often the callers come back when the survivors have settled what they could. */
const ROUNDS = 3;
const PAUSE_MS = 1_000;
const PROGRESS_EVERY = 500;

export async function runStorm(
  stack: StackId,
  options: StormOptions,
  ground: Ground,
  report: Report,
): Promise<Storm> {
  const { intents, processes, killEvery, seed } = options;
  const started = performance.now();
  const sites = await openSites(stack, options, ground);
  const jobs = jobsOf(intents, seed);
  const told: Told[] = [];
  const tries = new Map<string, number>();
  let isOver = false;

  async function run({ wish, toolClass }: Job, worker: Worker): Promise<"done" | "again"> {
    const ask: Ask = { ...wish, ...ASK, wish: wish.name, cents: wish.cents ?? 0 };
    const from = performance.now();
    const answer = await worker.ask<Answer & Pick<Told, "at">>("call", sites[toolClass].cell, ask);
    const ms = Math.round(performance.now() - from);
    told.push({ wish: wish.name, ...answer, ms });
    if (!isOver && told.length % killEvery === 0) crew.killOne();
    const isLine = told.length % PROGRESS_EVERY === 0;
    report(`${stack}: ${told.length} answers, ${crew.counts().kills} kills`, isLine);
    const tried = (tries.get(wish.name) ?? 0) + 1;
    tries.set(wish.name, tried);
    const isSettled = answer.said === "done" || (answer.said === "unknown" && !answer.askAgain);
    if (isSettled || tried >= TRIES) return "done";
    await wait(AGENT_PAUSE_MS);
    return "again";
  }

  const crew: Crew<Job> = await startCrew<Job>({
    size: processes,
    atOnce: AT_ONCE,
    chance: createChance(seed),
    start: async () => {
      const worker = startWorker(stack, ground.folder);
      for (const { cell, tool, place } of Object.values(sites)) {
        await worker.ask("setUp", cell, tool, place);
      }
      return worker;
    },
    run,
  });
  try {
    await crew.work(jobs);
    isOver = true;
    const { kills, cutOff } = crew.counts();
    const say = (text: string): void => report(`${stack}: ${text}`, true);
    const leftOpen = await settle(crew, sites, say);
    for (let round = 0; round < ROUNDS; round += 1) {
      const standing = await standingsIn(sites, crew.workers()[0]);
      // Of what died before it was written down nothing is known, and what was not applied is still wanted.
      const undone = jobs.filter(({ wish }) => standing[wish.name] !== "done");
      if (undone.length === 0) break;
      say(`${undone.length} jobs come back`);
      tries.clear();
      await crew.work(undone);
      await settle(crew, sites, say);
    }
    for (const { cell } of Object.values(sites)) await ground.services.ask("commitLate", cell);
    const logs = await logsOf(sites, ground);
    const standing = await standingsIn(sites, crew.workers()[0]);
    const wishes = [...new Set(jobs.map(({ wish }) => wish))];
    const evidence: Evidence = { wishes, told, standing, ...logs };
    const score = judge(evidence);
    return {
      stack,
      score,
      attemptsPerEffect: score.effects === 0 ? 0 : score.arrivals / score.effects,
      answers: told.length,
      faults: countFaults(logs),
      reads: logs.reads.length,
      ...{ kills, cutOff, leftOpen },
      wrong: verdictOf(score) === "ok" ? [] : wrongIn(evidence),
      seconds: Math.round((performance.now() - started) / 1_000),
    };
  } finally {
    await crew.end();
    for (const { cell } of Object.values(sites)) await ground.services.ask("close", cell);
  }
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const ASK = { note: "please", thread: "storm", turn: "turn-1" } as const;

/** All survivors at once, until nothing is open. Returns how much was. */
async function settle(crew: Crew<Job>, sites: Sites, say: (text: string) => void): Promise<number> {
  let first: number | undefined;
  for (let pass = 0; pass < PASSES; pass += 1) {
    const standing = Object.values(await standingsIn(sites, crew.workers()[0]));
    const open = standing.filter((said) => said === "unknown").length;
    first ??= open;
    say(`${open} open`);
    if (open === 0) break;
    await Promise.all(
      crew
        .workers()
        .flatMap((worker) => Object.values(sites).map(({ cell }) => worker.ask("reconcile", cell))),
    );
    await wait(PAUSE_MS);
  }
  return first ?? 0;
}

function countFaults({ arrivals }: ServiceLogs): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { fault } of arrivals) {
    const name = fault?.tag ?? "none";
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
