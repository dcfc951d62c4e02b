/**
 * The stage of one cell: a service of its own, the processes of the stack, and everything that callers are told.
 *
 * @module
 */

import { createChance } from "../../../test/battery/world/chance.ts";
import type { CallHow, FaultCase, Met, Process, Stage } from "../fault.ts";
import { COMMITS_WITHIN_MS, DAY_MS, TIMEOUT_MS } from "../fault.ts";
import type { Told, Wish } from "../judge.ts";
import type { Answer, Ask, Place, Said, Tool, ToolClass } from "../stack.ts";
import type { StackId } from "../stacks.ts";
import type { Ground } from "./ground.ts";
import { ProcessEndedError } from "./remote.ts";
import type { ServiceLogs } from "./service-process.ts";
import { type Pool, startWorker, type Worker } from "./workers.ts";

export interface CellName {
  readonly stack: StackId;
  readonly fault: FaultCase;
  readonly toolClass: ToolClass;
  /** Makes the names of a round its own, and every choice of a script. */
  readonly seed: number;
  /** A cell that is played once more is another one to everything that remembers. @default 1 */
  readonly take?: number | undefined;
}

export interface OpenStage extends Stage {
  readonly told: readonly Told[];
  counts(): Pick<Met, "kills" | "freezes" | "lateSends">;
  standing(wish: Wish): Promise<Said | undefined>;
  /** What the requests for a wish carry, and the judge knows them by. */
  thing(wish: Wish): Pick<Ask, "item" | "cents">;
  /** The last ask for a wish, once more. */
  lastAsk(wish: Wish): Ask;
  commitLate(): Promise<void>;
  logs(): Promise<ServiceLogs>;
  close(): Promise<void>;
}

/** How long a caller waits for an answer, in milliseconds. */
const PATIENCE_MS = 25_000;
const ARRIVES_WITHIN_MS = 15_000;

export async function openStage(name: CellName, ground: Ground, pool: Pool): Promise<OpenStage> {
  const { stack, fault, toolClass, seed, take = 1 } = name;
  const cell = `${stack}.${fault.id}.${toolClass}.${seed}.${take}`;
  const keyMemoryMs = fault.tool?.keyMemoryMs ?? DAY_MS;
  const url = await ground.services.ask<string>("open", cell, keyMemoryMs);
  const tool: Tool = {
    class: toolClass,
    url,
    timeoutMs: TIMEOUT_MS,
    commitsWithinMs: COMMITS_WITHIN_MS,
    ...fault.tool,
    keyMemoryMs,
  };
  const { folder, schema, redisUrl, postgresUrl, restate } = ground;
  const ledger = fault.needsOwnProcess ? cell : `shared.${stack}`;
  const place: Place = { name: cell, ledger, folder, schema, redisUrl, postgresUrl, restate };
  const workers: Worker[] = [];
  const told: Told[] = [];
  /** How each wish was asked for last. */
  const asked = new Map<string, Ask>();
  let freezes = 0;
  let lateSends = 0;

  const set = async (worker: Worker): Promise<Worker> => {
    if (fault.needsOwnProcess) workers.push(worker);
    await worker.ask("setUp", cell, tool, place);
    return worker;
  };
  const fresh = (): Promise<Worker> => set(startWorker(stack, folder));
  let main = fault.needsOwnProcess ? await fresh() : await set(pool.shared(stack));

  /** What a script sees of a process: it counts what is done to it. */
  const handles = new Map<Process, Worker>();
  const handleOf = (of: () => Worker): Process => {
    const handle: Process = {
      kill: () => of().kill(),
      freeze() {
        freezes += 1;
        of().freeze();
      },
      thaw: () => of().thaw(),
    };
    return handle;
  };
  const mainHandle = handleOf(() => main);
  const workerOf = (on: Process | undefined): Worker => (on && handles.get(on)) ?? main;

  async function call(ask: Ask, { on, die }: CallHow = {}): Promise<Answer | undefined> {
    asked.set(ask.wish, ask);
    const started = performance.now();
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), PATIENCE_MS);
    });
    try {
      const calling = workerOf(on).ask<Answer>("call", cell, ask, die);
      const answer = await Promise.race([calling, patience]);
      const ms = Math.round(performance.now() - started);
      if (answer) told.push({ wish: ask.wish, ...answer, at: Date.now(), ms });
      return answer;
    } catch (error) {
      if (error instanceof ProcessEndedError) return undefined;
      // A call that throws is an error to its caller.
      const words = String(error);
      const ms = Math.round(performance.now() - started);
      told.push({ wish: ask.wish, said: "failed", words, at: Date.now(), ms });
      return { said: "failed", words };
    } finally {
      clearTimeout(timer);
    }
  }

  const askFor = (wish: Wish, more: Partial<Ask> = {}): Ask => ({
    wish: wish.name,
    item: `${wish.item}-${seed}`,
    cents: wish.cents ?? 4_000,
    note: "please",
    thread: "chat-7",
    turn: "turn-1",
    ...more,
  });
  const lastAsk = (wish: Wish): Ask => asked.get(wish.name) ?? askFor(wish);

  return {
    toolClass,
    random: createChance(seedOf(seed, cell)).next,
    told,
    main: mainHandle,
    ask: askFor,
    thing(wish) {
      const { item, cents } = askFor(wish);
      return { item, cents };
    },
    lastAsk,
    call,
    counts: () => ({
      kills: workers.filter(({ hasDied }) => hasDied()).length,
      freezes,
      lateSends,
    }),
    plan: (...faults) => ground.services.ask("plan", cell, faults),
    always: (always) => ground.services.ask("always", cell, always ?? null),
    alwaysRead: (readFault) => ground.services.ask("alwaysRead", cell, readFault ?? null),
    async arrived(count) {
      await ground.services.ask("arrived", cell, count, ARRIVES_WITHIN_MS);
    },
    wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    async another() {
      const worker = await fresh();
      const handle = handleOf(() => worker);
      handles.set(handle, worker);
      return handle;
    },
    async restart() {
      main = await fresh();
    },
    async reconcile(die) {
      try {
        await main.ask("reconcile", cell, die);
      } catch (error) {
        if (!die || !(error instanceof ProcessEndedError)) throw error;
      }
    },
    async lateSends() {
      for (const worker of workers) lateSends += await worker.ask<number>("lateSends");
    },
    standing: async (wish) =>
      (await main.ask<Said | null>("standing", cell, lastAsk(wish))) ?? undefined,
    async commitLate() {
      await ground.services.ask("commitLate", cell);
    },
    logs: () => ground.services.ask<ServiceLogs>("logs", cell),
    async close() {
      if (!fault.needsOwnProcess) await main.ask("close", cell).catch(() => {});
      await Promise.all(workers.map((worker) => worker.end()));
      await ground.services.ask("close", cell);
    },
  };
}

/** Another number for each cell of one seed. */
const seedOf = (seed: number, cell: string): number =>
  [...cell].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, seed);
