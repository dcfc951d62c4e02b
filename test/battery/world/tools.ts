/** The guarded tools of one simulated process, one per class. */

import type { Holdfire } from "../../../src/create.ts";
import type { GuardedTool } from "../../../src/engine/call/guarded-tool.ts";
import type { AttemptContext, ToolWithoutInput } from "../../../src/engine/define/definition.ts";
import type { Reading, StateQuery } from "../../../src/engine/define/reading.ts";
import type { Host } from "./clock.ts";
import type { Fate, ReadFate } from "./fates.ts";
import type { Network } from "./network.ts";
import { classify, type Result } from "./reply.ts";
import type { Service } from "./service.ts";
import { TIMES, type ToolClass, traitsOf } from "./settings.ts";

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
}

export interface Toolbox {
  tool(name: ToolClass): SimTool;
  definition(name: ToolClass): Definition;
}

export function createToolbox(
  hf: Holdfire,
  host: Host,
  { service, network }: Outside,
  script: Script,
): Toolbox {
  const made = new Map<ToolClass, SimTool>();

  function tool(name: ToolClass): SimTool {
    const known =
      made.get(name) ?? hf.tool<Args, Result, { readonly what: string }>(definition(name));
    made.set(name, known);
    return known;
  }

  function definition(name: ToolClass): Definition {
    const traits = traitsOf(name);
    const { keyed, honours, conditional, readable, bounded, lies } = traits;
    const takesKey = honours || readable;
    return {
      name,
      kind: "write",
      intent: ({ what }) => ({ what }),
      run: traits.composite ? composite : send,
      classify,
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

    function send({ op, what }: Args, context: AttemptContext): Promise<Result> {
      return network.send(
        {
          op,
          tool: name,
          attempt: context.attempt,
          key: takesKey ? context.key : undefined,
          resource: what,
          precondition: conditional ? context.precondition : undefined,
          host,
          signal: context.signal,
          heeds: script.heeds,
        },
        script.fates.get(op)?.shift() ?? "ok",
      ) as Promise<Result>;
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

  return { tool, definition };
}

export const attemptsOf = (name: ToolClass): number => traitsOf(name).attempts ?? 3;
