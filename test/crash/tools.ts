/**
 * The tools of the trials, one per class of service: the same in the process that dies and in those
 * that recover.
 *
 * @module
 */

import type { Holdfire } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import type { AttemptContext } from "../../src/engine/define/definition.ts";
import {
  absent,
  committed,
  duplicated,
  type Reading,
  type StateQuery,
} from "../../src/engine/define/reading.ts";
import { createClient, type ServiceClient } from "../../src/testing/faulty-service/client.ts";
import type { EffectBody } from "../../src/testing/faulty-service/logs.ts";
import type { CrashClass } from "./points.ts";
import type { Trial, Wish } from "./trial.ts";

/** What a wish is called with. */
export interface Order {
  readonly item: string;
  readonly filler: string;
  readonly compares: "name" | "version";
}

export type OrderTool = GuardedTool<Order, EffectBody>;

export const orderOf = ({ name, filler, compares }: Wish): Order => ({
  item: name,
  filler,
  compares,
});

/** Every wish of a trial is made in one scope. */
export const scopeOf = ({ id }: Trial): string => `trial ${id}`;

/** How long an owner is believed alive: no longer than recovery can wait for. */
export const LEASE_MS = 6_000;
const ATTEMPT_TIMEOUT_MS = 5_000;
const COMMITS_WITHIN_MS = 100;
const DAY_MS = 86_400_000;

export interface ToolsOptions {
  readonly hf: Holdfire;
  readonly trial: Trial;
  readonly url: string;
  /** What sends the writes. */
  readonly fetch?: typeof fetch | undefined;
}

export function toolsOf({ hf, trial, url, fetch }: ToolsOptions): Record<CrashClass, OrderTool> {
  const kind = trial.point === "F11" ? "destructive" : "write";
  const tool = (toolClass: CrashClass): OrderTool => {
    const client = createClient(url, toolClass, { fetch });
    return hf.tool<Order, EffectBody>({
      name: `${kind}_${toolClass}`,
      kind,
      // One budget of resends per trial, whoever else recovers in the same process.
      service: `${trial.id} ${toolClass}`,
      run: runOf(toolClass, client),
      ...powersOf(toolClass, createClient(url, toolClass)),
      effect: { id: ({ id }) => id },
      attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
      attempts: 5,
    });
  };
  return {
    keyed: tool("keyed"),
    readable: tool("readable"),
    conditional: tool("conditional"),
    neither: tool("neither"),
  };
}

function runOf(toolClass: CrashClass, client: ServiceClient) {
  return (order: Order, { key, signal, precondition }: AttemptContext): Promise<EffectBody> => {
    if (toolClass !== "conditional") return client.create(order, { key, signal });
    const ifMatch = typeof precondition === "string" ? precondition : undefined;
    return client.put(order.item, order, { key, signal, ifMatch });
  };
}

function powersOf(toolClass: CrashClass, client: ServiceClient) {
  switch (toolClass) {
    case "keyed":
      return { keyed: { forMs: DAY_MS } };
    case "readable":
      return { readState: lookUp(client), commitsWithinMs: COMMITS_WITHIN_MS };
    case "conditional":
      return {
        precondition: async ({ item, compares }: Order) =>
          compares === "version" ? ((await client.get(item))?.etag ?? null) : null,
        readState: lookUp(client),
      };
    case "neither":
      return {};
  }
}

export const lookUp =
  (client: ServiceClient) =>
  async ({ key, signal }: StateQuery<unknown>): Promise<Reading<EffectBody>> => {
    const found = await client.find({ key }, { signal });
    const [first, second] = found;
    if (!first) return absent();
    return second ? duplicated(found) : committed(first, { effectId: first.id });
  };
