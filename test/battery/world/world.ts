/** The simulated world: time, service, store and processes, and a log of what callers were told. */

import type { Holdfire } from "../../../src/create.ts";
import { engineOf } from "../../../src/engine/engine-of.ts";
import type { Outcome } from "../../../src/engine/operation/outcome.ts";
import { replyOf } from "../../../src/engine/outcome/reply.ts";
import { checkerOf } from "../../../src/engine/outcome/words.ts";
import { type Chance, createChance } from "./chance.ts";
import { createTimeline, type Timeline } from "./clock.ts";
import type { Fate, Hits, ReadFate, StoreFate } from "./fates.ts";
import type { Manner } from "./manners.ts";
import { createNetwork, type Network, type Transit } from "./network.ts";
import { createProcess, type Process } from "./process.ts";
import type { Result } from "./reply.ts";
import { createService, type Service } from "./service.ts";
import { TIMES, type ToolClass, traitsOf } from "./settings.ts";
import { createStore, type DurableStore } from "./store.ts";

/** One wish of a caller. */
export interface CallSpec {
  readonly tool: ToolClass;
  readonly scope: string;
  readonly what: string;
  readonly again?: string | undefined;
  /** The caller's own name for the operation, in place of scope and intent. */
  readonly key?: string | undefined;
  readonly retry?: boolean | undefined;
  readonly note?: string | undefined;
  readonly deadlineMs?: number | undefined;
  /** The caller leaves after so many milliseconds; `0` = before the call is made. */
  readonly abortAfter?: number | undefined;
  readonly fates?: readonly Fate[] | undefined;
  readonly reads?: readonly ReadFate[] | undefined;
  readonly store?: readonly StoreFate[] | undefined;
  readonly heeds?: boolean | undefined;
  /** The step of the model that asks for it; plain code, if it is left out. */
  readonly step?: string | undefined;
  /** How `run` is written, of a tool whose requests are seen. */
  readonly manner?: Manner | undefined;
}

/** What a caller asked, and what it was told. */
export interface Call {
  readonly spec: CallSpec;
  readonly op: string;
  readonly by: string;
  readonly at: number;
  readonly deadlineMs: number;
  readonly frozenBefore: number;
  endedAt?: number | undefined;
  /** How long the caller's process stood still during the call. */
  frozenMs?: number | undefined;
  outcome?: Outcome<Result> | undefined;
  /** What a model is told of it. */
  words?: string | undefined;
  error?: unknown;
  /** The caller died with its process. */
  readonly isOrphan: () => boolean;
}

export interface World {
  readonly time: Timeline;
  readonly chance: Chance;
  readonly service: Service;
  readonly network: Network;
  readonly store: DurableStore;
  readonly processes: readonly Process[];
  readonly calls: readonly Call[];
  /** People's verdicts that let an operation be fired again, by operation. */
  readonly resolved: Map<string, number>;
  /** Settled operations that the reaper took, by operation. */
  readonly forgotten: Map<string, number>;
  /** The processes whose wall clock was set, and the store if its clock was. */
  readonly clocksSet: Set<number | "store">;
  readonly forgets: boolean;
  readonly hits: Hits;
  process(index: number): Process;
  /** Begins a call; its end is written into the log. */
  call(process: Process, spec: CallSpec): Call;
}

export const opOf = ({ tool, scope, what, again, key }: CallSpec): string =>
  key === undefined ? [tool, scope, what, again ?? ""].join("/") : `${tool}/by-key/${key}`;

export interface WorldOptions {
  readonly seed: number;
  readonly hits: Hits;
  /** How messages travel; by the clock if left out. */
  readonly transit?: ((time: Timeline) => Transit) | undefined;
  readonly syncMs?: number | undefined;
  /** The store may evict records. */
  readonly forgets?: boolean | undefined;
}

const PROCESSES = 3;

export function createWorld({ seed, hits, transit, syncMs, forgets }: WorldOptions): World {
  const time = createTimeline();
  const chance = createChance(seed);
  const carry: Transit = transit?.(time) ?? ((ms, call) => void time.after(ms, call));
  const store = createStore({ time, chance, transit: carry, hits, syncMs, forgets });
  const ledgerAt = () => store.history.length;
  const service = createService({ time, chance, hits });
  const network = createNetwork({ time, chance, transit: carry, hits, service, ledgerAt });
  const processes = Array.from({ length: PROCESSES }, (_, index) =>
    createProcess(`p${index}`, { time, chance, service, network, store }),
  );
  const calls: Call[] = [];

  function call(process: Process, spec: CallSpec): Call {
    const op = opOf(spec);
    const { fates = [], reads = [], heeds = true, manner } = spec;
    if (traitsOf(spec.tool).wire) hits.hit(`manner:${manner ?? "plain"}`);
    if (traitsOf(spec.tool).composite) {
      process.expect(`${op}/N`, { fates: fates.slice(1), reads, heeds });
      process.expect(`${op}/K`, { fates: fates.slice(0, 1), reads, heeds });
    } else process.expect(op, { fates, reads, heeds, manner });
    process.expectOfStore(spec.store ?? []);
    const { host, tools, hf } = process.life();
    const deadlineMs = spec.deadlineMs ?? TIMES.deadline;
    const entry: Call = {
      spec,
      op,
      by: host.name,
      at: time.now(),
      deadlineMs,
      frozenBefore: host.frozenMs(),
      isOrphan: () => host.state() === "dead",
    };
    calls.push(entry);
    const stop = new AbortController();
    if (spec.abortAfter === 0) stop.abort();
    else if (spec.abortAfter !== undefined) host.clock.after(spec.abortAfter, () => stop.abort());
    const { tool, what, note = "note", scope, again, key } = spec;
    const args = { what, op, note };
    const options = {
      scope,
      deadlineMs,
      aliases: [op],
      // A key of the caller's own stands for all of that.
      ...(again === undefined || key !== undefined ? {} : { again }),
      ...(spec.retry ? { retry: "once more" } : {}),
      ...(spec.abortAfter === undefined ? {} : { signal: stop.signal }),
      ...(key === undefined ? {} : { key }),
      ...(spec.step === undefined ? {} : { step: spec.step }),
    };
    const ended = (end: Pick<Call, "outcome" | "words" | "error">) => {
      const frozenMs = host.frozenMs() - entry.frozenBefore;
      Object.assign(entry, end, { endedAt: time.now(), frozenMs });
    };
    tools
      .tool(tool)
      .outcome(args, options)
      .then(
        (outcome) => ended({ outcome, words: wordsFor(outcome, tool, hf) }),
        (error: unknown) => ended({ error }),
      );
    return entry;
  }

  const wordsFor = (outcome: Outcome<Result>, tool: ToolClass, hf: Holdfire): string =>
    replyOf(outcome, checkerOf(tool, engineOf(hf))).message;

  return {
    time,
    chance,
    service,
    network,
    store,
    processes,
    calls,
    resolved: new Map(),
    forgotten: new Map(),
    clocksSet: new Set(),
    forgets: forgets === true,
    hits,
    process(index) {
      const found = processes[index];
      if (!found) throw new RangeError(`There is no process ${index}.`);
      return found;
    },
    call,
  };
}
