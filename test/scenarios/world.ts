/**
 * The faulty service, a holdfire and tools of each class on one clock: what a scenario needs.
 *
 * Requests go over real sockets; time stands still while one is on its way, and otherwise moves to
 * whatever comes next.
 *
 * @module
 */

import { onTestFinished } from "vitest";
import { createHoldfire, type Holdfire, type HoldfireOptions } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import type { AttemptContext, ToolOptions } from "../../src/engine/define/definition.ts";
import {
  absent,
  committed,
  duplicated,
  type Reading,
  type StateQuery,
} from "../../src/engine/define/reading.ts";
import type { Store } from "../../src/ledger/store.ts";
import {
  type EffectBody,
  type FaultyService,
  type FaultyServiceOptions,
  type ServiceClient,
  startFaultyService,
  type ToolClass,
} from "../../src/testing/faulty-service.ts";
import { until, type VirtualClock, virtualClock } from "../engine/virtual-clock.ts";
import { type Heard, listen } from "../observe/heard.ts";
import { rememberingStore } from "../stores/remembering-store.ts";

/** What is ordered; the note is no part of the intent. */
export interface Order {
  readonly item: string;
  readonly note?: string | undefined;
}

export type OrderTool = GuardedTool<Order, EffectBody>;

export type OrderOptions = Partial<ToolOptions<Order, { readonly item: string }, EffectBody>> & {
  readonly run?: (args: Order, context: AttemptContext) => Promise<EffectBody>;
};

export const DAY_MS = 86_400_000;
export const TEA: Order = { item: "tea" };

export { listen };

export interface World {
  readonly service: FaultyService;
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly hf: Holdfire;
  /** The events so far. */
  readonly heard: Heard;
  /** A client whose requests hold up the time. */
  client(toolClass: ToolClass): ServiceClient;
  /** A tool that orders from this class of service, with the powers of the class. */
  order(toolClass: ToolClass, options?: OrderOptions, hf?: Holdfire): OrderTool;
  /** Another holdfire on the same store and clock, as another process would have it. */
  another(options?: Partial<HoldfireOptions>): Holdfire;
  /** Lets time pass until the promise has settled. */
  pass<T>(promise: Promise<T>): Promise<T>;
  /** Waits until so many writes have arrived. */
  arrived(count: number): Promise<void>;
  /** Holds the time while this is under way. */
  track<T>(promise: Promise<T>): Promise<T>;
}

export interface WorldOptions {
  readonly service?: FaultyServiceOptions;
  readonly hf?: Partial<HoldfireOptions>;
  readonly store?: (now: () => number) => Store;
}

export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const clock = virtualClock();
  const { now, after } = clock;
  const service = await startFaultyService({ now, after, random: () => 0.5, ...options.service });
  const store = options.store?.(now) ?? rememberingStore(now);
  const another = (more: Partial<HoldfireOptions> = {}): Holdfire =>
    createHoldfire({
      app: "world",
      store,
      surroundings: { clock, random: () => 0.5 },
      ...options.hf,
      ...more,
    });
  const hf = another();
  let underWay = 0;
  onTestFinished(() => service.close());

  const track = async <T>(promise: Promise<T>): Promise<T> => {
    underWay += 1;
    try {
      return await promise;
    } finally {
      underWay -= 1;
    }
  };
  const client = (toolClass: ToolClass): ServiceClient => {
    const raw = service.client(toolClass);
    return {
      create: (...args) => track(raw.create(...args)),
      find: (...args) => track(raw.find(...args)),
      version: (...args) => track(raw.version(...args)),
      put: (...args) => track(raw.put(...args)),
      get: (...args) => track(raw.get(...args)),
    };
  };

  return {
    service,
    clock,
    store,
    hf,
    heard: listen(hf),
    client,
    order: (toolClass, more = {}, by = hf) => orderTool(by, client(toolClass), toolClass, more),
    another,
    pass: (promise) => clock.run(promise, () => underWay === 0),
    arrived: (count) => until(() => service.arrivals.length >= count),
    track,
  };
}

function orderTool(
  hf: Holdfire,
  client: ServiceClient,
  toolClass: ToolClass,
  options: OrderOptions,
): OrderTool {
  const base = {
    name: `order_${toolClass}`,
    kind: "write",
    attemptTimeoutMs: 10_000,
    intent: ({ item }: Order) => ({ item }),
    run: (args: Order, { key, signal }: AttemptContext) => client.create(args, { key, signal }),
  } as const;
  return hf.tool<Order, EffectBody, { readonly item: string }>({
    ...base,
    ...powersOf(toolClass, client),
    ...options,
  });
}

/** What a tool of this class says of its service. */
function powersOf(toolClass: ToolClass, client: ServiceClient): OrderOptions {
  const keyed = { forMs: DAY_MS };
  const readState = lookUp(client);
  switch (toolClass) {
    case "keyed":
      return { keyed };
    case "readable":
    case "liar":
      return { readState };
    case "keyed_readable":
      return { keyed, readState };
    case "conditional":
      return {
        precondition: () => client.version(),
        run: (args, context) =>
          client.create(args, {
            key: context.key,
            ifMatch: String(context.precondition),
            signal: context.signal,
          }),
      };
    case "neither":
      return {};
  }
}

/** Reads by every key the service may have seen. */
export const lookUp =
  (client: ServiceClient): ((query: StateQuery<unknown>) => Promise<Reading<EffectBody>>) =>
  async ({ keys, signal }) => {
    const found = (await Promise.all(keys.map((key) => client.find({ key }, { signal })))).flat();
    const [first, second] = found;
    if (!first) return absent();
    return second ? duplicated(found) : committed(first, { effectId: first.id });
  };

/** Keys as they arrived, in order. */
export const keysOf = ({ arrivals }: FaultyService): (string | undefined)[] =>
  arrivals.map(({ key }) => key);
