/**
 * A holdfire on a clock that stands still while a request is on its way: what a test of a recipe needs.
 *
 * @module
 */

import { createHoldfire, type Holdfire } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import type { ToolWithInput } from "../../src/engine/define/definition.ts";
import type { JsonArguments } from "../../src/engine/define/json-arguments.ts";
import type { Reading } from "../../src/engine/define/reading.ts";
import type { Outcome } from "../../src/engine/operation/outcome.ts";
import { type VirtualClock, virtualClock } from "../engine/virtual-clock.ts";
import { rememberingStore } from "../stores/remembering-store.ts";

export interface Stage {
  readonly hf: Holdfire;
  readonly clock: VirtualClock;
  /** How many times a duplicate was noticed. */
  readonly duplicates: () => number;
  /** What readers said, and of which key. */
  readonly readings: { readonly key: string; readonly reading: Reading<unknown> }[];
  tool<A extends JsonArguments<A>, I, R>(definition: ToolWithInput<A, I, R>): GuardedTool<A, R>;
  /** One call in one scope, with all the time it needs. */
  call<A, R>(tool: GuardedTool<A, R>, args: A, scope?: string): Promise<Outcome<R>>;
}

export function openStage(): Stage {
  const clock = virtualClock();
  const store = rememberingStore(clock.now);
  const hf = createHoldfire({ store, surroundings: { clock, random: () => 0.5 } });
  const readings: { readonly key: string; readonly reading: Reading<unknown> }[] = [];
  let duplicates = 0;
  let underWay = 0;
  hf.on("duplicate", () => {
    duplicates += 1;
  });
  const tracked =
    <P extends unknown[], T>(fn: (...args: P) => T | Promise<T>) =>
    async (...args: P): Promise<T> => {
      underWay += 1;
      try {
        return await fn(...args);
      } finally {
        underWay -= 1;
      }
    };
  return {
    hf,
    clock,
    duplicates: () => duplicates,
    readings,
    tool: (definition) => {
      const { run, readState, precondition } = definition;
      return hf.tool({
        ...definition,
        run: tracked(run),
        ...(typeof precondition === "function" && { precondition: tracked(precondition) }),
        ...(readState && {
          readState: tracked(async (query: Parameters<typeof readState>[0]) => {
            const reading = await readState(query);
            readings.push({ key: query.key, reading });
            return reading;
          }),
        }),
      });
    },
    call: (tool, args, scope = "request-1") =>
      clock.run(tool.outcome(args, { scope }), () => underWay === 0),
  };
}
