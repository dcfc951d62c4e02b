/** The guarded tools of one simulated process, one per class. */

import { AsyncLocalStorage } from "node:async_hooks";
import type { Holdfire } from "../../../src/create.ts";
import type { GuardedTool } from "../../../src/engine/call/guarded-tool.ts";
import type { AttemptContext, ToolWithoutInput } from "../../../src/engine/define/definition.ts";
import type { Reading, StateQuery } from "../../../src/engine/define/reading.ts";
import { currentToken, stopSuspecting, type WireToken } from "../../../src/wire/token.ts";
import type { Chance } from "./chance.ts";
import type { Host } from "./clock.ts";
import type { Fate, ReadFate } from "./fates.ts";
import { behave, distorts, type Manner } from "./manners.ts";
import type { Network, Wish } from "./network.ts";
import { classify, type Result } from "./reply.ts";
import type { Service } from "./service.ts";
import { TIMES, type ToolClass, traitsOf } from "./settings.ts";
import { meansOf, type Queue } from "./wired.ts";

/** `op` and `note` are no part of the intent; `note` may be worded anew. */
export interface Args {
  readonly what: string;
  readonly op: string;
  readonly note: string;
}

/** What is to befall the requests of one process. When a list is empty, all goes well. */
export interface Script {
  /** By operation. */
  readonly fates: Map<string, Fate[]>;
  /** How `run` is written, by operation; `plain` if it is not said. */
  readonly manners: Map<string, Manner>;
  /** In order: a reader is never told whose operation it reads for. */
  reads: ReadFate[];
  /** Whether `run` ends when it is told to. */
  heeds: boolean;
}

export type SimTool = GuardedTool<Args, Result>;

export type Definition = ToolWithoutInput<Args, { readonly what: string }, Result>;

/** What a tool reaches over the wire. */
export interface Outside {
  readonly service: Service;
  readonly network: Network;
  readonly chance: Chance;
}

export interface Toolbox {
  tool(name: ToolClass): SimTool;
  definition(name: ToolClass): Definition;
  /** The process is dead: what ran in it is not remembered anywhere. */
  drop(): void;
}

export function createToolbox(
  hf: Holdfire,
  host: Host,
  { service, network, chance }: Outside,
  script: Script,
): Toolbox {
  const made = new Map<ToolClass, SimTool>();
  const running = new Set<WireToken>();
  let inFirst: Queue | undefined;
  const queue: Queue = (job) => {
    inFirst ??= AsyncLocalStorage.snapshot();
    return inFirst(job);
  };

  function tool(name: ToolClass): SimTool {
    const known =
      made.get(name) ?? hf.tool<Args, Result, { readonly what: string }>(definition(name));
    made.set(name, known);
    return known;
  }

  function definition(name: ToolClass): Definition {
    const traits = traitsOf(name);
    const { keyed, honours, conditional, readable, bounded, lies, wire } = traits;
    const takesKey = honours || readable;
    const wishOf = ({ op, what }: Args, context: AttemptContext): Wish => ({
      op,
      tool: name,
      attempt: context.attempt,
      key: takesKey ? context.key : undefined,
      resource: what,
      precondition: conditional ? context.precondition : undefined,
      host,
      signal: context.signal,
      heeds: script.heeds,
    });
    const nextFate = ({ op }: Args): Fate => script.fates.get(op)?.shift() ?? "ok";

    return {
      name,
      kind: "write",
      intent: ({ what }) => ({ what }),
      run: remembering(traits.composite ? composite : wire ? requested : send),
      ...(wire ? { refuses: [429] } : { classify }),
      ...(wire === "own" || traits.composite ? { via: "http" as const } : {}),
      effect: { id: ({ effect }) => effect },
      attemptTimeoutMs: TIMES.attempt,
      readTimeoutMs: TIMES.read,
      deadlineMs: TIMES.deadline,
      attempts: attemptsOf(name),
      ...(keyed ? { keyed: { forMs: TIMES.keyMemory } } : {}),
      ...(conditional ? { precondition: ({ what }: Args) => service.version(what) } : {}),
      ...(readable ? { readState: read } : {}),
      ...(bounded ? { commitsWithinMs: TIMES.commitsWithin } : {}),
      ...(lies
        ? { verify: ({ effect }: Result) => service.effects.some(({ id }) => id === effect) }
        : {}),
    };

    function send(args: Args, context: AttemptContext): Promise<Result> {
      return network.send(wishOf(args, context), nextFate(args)) as Promise<Result>;
    }

    /** Its requests are seen, and it is written as people write it. */
    async function requested(args: Args, context: AttemptContext): Promise<Result> {
      const asked = script.manners.get(args.op) ?? "plain";
      // It has promised that there is no other way.
      const manner = wire === "own" && asked === "other-way" ? "plain" : asked;
      const fate = nextFate(args);
      let isLeftBehind = false;
      const wish: Wish = {
        ...wishOf(args, context),
        // What is left behind does not listen any more.
        heeds: script.heeds && manner !== "late-branch",
        isLeftBehind: () => isLeftBehind,
        distorts: distorts(manner),
      };
      if (fate === "sync-throw") throw new Error("run is broken");
      const means = { network, host, chance, queue };
      try {
        return await behave(
          manner,
          meansOf(means, wish, fate, wire === "own" ? context : undefined),
        );
      } finally {
        isLeftBehind = true;
      }
    }

    function read({ keys }: StateQuery<{ readonly what: string }>): Promise<Reading<Result>> {
      return network.read(name, keys, host, script.reads.shift() ?? "ok");
    }
  }

  /** An operation whose every request is an operation of its own. */
  async function composite({ op, what, note }: Args): Promise<Result> {
    const inner = (name: ToolClass) =>
      tool(name)({ what, note, op: `${op}/${name}` }, { aliases: [`${op}/${name}`] });
    const first = await inner("K");
    await inner("N");
    return first;
  }

  /** Keeps the tokens of what runs, so that they can be dropped. */
  function remembering(run: Definition["run"]): Definition["run"] {
    return (args, context) => {
      const token = currentToken();
      if (token) running.add(token);
      return run(args, context);
    };
  }

  return {
    tool,
    definition,
    drop() {
      for (const token of running) stopSuspecting(token);
      running.clear();
    },
  };
}

export const attemptsOf = (name: ToolClass): number => traitsOf(name).attempts ?? 3;
