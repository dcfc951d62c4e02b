/**
 * The tools of the storm, the same in the processes that call, that die and that reconcile.
 *
 * @module
 */

import type { Holdfire } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import { absent, committed, duplicated } from "../../src/engine/define/reading.ts";
import { createClient, type ServiceClient } from "../../src/testing/faulty-service/client.ts";
import type { EffectBody } from "../../src/testing/faulty-service/logs.ts";

export type StormClass = "readable" | "keyed" | "neither";

export type StormTool = GuardedTool<{ readonly item: string }, EffectBody>;

/** The class of the n-th item: most can be read. */
export const classOf = (n: number): StormClass =>
  n % 10 < 7 ? "readable" : n % 10 < 9 ? "keyed" : "neither";

/** How long an owner is believed alive: the attempt and a second, the least there is. */
export const LEASE_MS = 1_500;
const ATTEMPT_TIMEOUT_MS = 500;
/** Callers whose reader is down wait so long for it. */
const DEADLINE_MS = 15_000;
/** The service commits late by less than a tenth of a second; a slow machine is given a lot more. */
const COMMITS_WITHIN_MS = 2_000;
const DAY_MS = 86_400_000;

export interface StormOptions {
  readonly hf: Holdfire;
  readonly url: string;
  /** Effects that somebody has deleted since. */
  readonly deleted?: readonly string[] | undefined;
}

export function stormTools({ hf, url, deleted = [] }: StormOptions): Record<StormClass, StormTool> {
  const tool = (toolClass: StormClass, powers: (client: ServiceClient) => object): StormTool => {
    const client = createClient(url, toolClass);
    const find: ServiceClient["find"] = async (...query) =>
      (await client.find(...query)).filter(({ id }) => !deleted.includes(id));
    return hf.tool<{ item: string }, EffectBody>({
      name: `order_${toolClass}`,
      kind: "write",
      run: (args, { key, signal }) => client.create(args, { key, signal }),
      effect: { id: idOf },
      attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
      deadlineMs: DEADLINE_MS,
      ...powers({ ...client, find }),
    });
  };
  const idOf = ({ id }: EffectBody) => id;
  const lister = (client: ServiceClient) => async () =>
    (await client.find({})).map(({ id, key, at }) => ({ effectId: id, key, at }));
  return {
    readable: tool("readable", (client) => ({
      readState: async ({ key, signal }: { key: string; signal: AbortSignal }) => {
        const found = await client.find({ key }, { signal });
        const [first, second] = found;
        if (!first) return absent();
        return second ? duplicated(found) : committed(first, { effectId: first.id });
      },
      commitsWithinMs: COMMITS_WITHIN_MS,
      effect: {
        id: idOf,
        same: (one: EffectBody, other: EffectBody) =>
          JSON.stringify(one.intent) === JSON.stringify(other.intent),
        list: lister(client),
      },
    })),
    keyed: tool("keyed", (client) => ({
      keyed: { forMs: DAY_MS },
      effect: { id: idOf, list: lister(client) },
    })),
    neither: tool("neither", () => ({})),
  };
}
