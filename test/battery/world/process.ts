/**
 * A simulated process: a holdfire of its own on a clock of its own. A crash drops all volatile state:
 * from then on nothing reaches it and it does nothing, while what it has sent goes on.
 */

import { createHoldfire, type Holdfire } from "../../../src/create.ts";
import { memoryWitness } from "../../../src/ledger/witness/witness.ts";
import type { Chance } from "./chance.ts";
import type { Freeze, Host, Timeline } from "./clock.ts";
import type { Fate, ReadFate, StoreFate } from "./fates.ts";
import type { Manner } from "./manners.ts";
import type { Network } from "./network.ts";
import type { Service } from "./service.ts";
import { TIMES } from "./settings.ts";
import type { DurableStore } from "./store.ts";
import { createToolbox, type Script, type Toolbox } from "./tools.ts";

/** One life of a process. */
interface Life {
  readonly host: Host;
  readonly hf: Holdfire;
  readonly tools: Toolbox;
  readonly script: Script;
  readonly storeFates: StoreFate[];
}

/** What is to befall an operation in one process, and how its tool is written. */
export interface Plan {
  readonly fates: readonly Fate[];
  readonly reads: readonly ReadFate[];
  readonly heeds: boolean;
  readonly manner?: Manner | undefined;
}

export interface Process {
  readonly name: string;
  /** The present life; after a crash a new one begins. */
  life(): Life;
  isFrozen(): boolean;
  isRunning(): boolean;
  /** What is to befall it next, in place of what was said before. */
  expect(op: string, plan: Plan): void;
  expectOfStore(fates: readonly StoreFate[]): void;
  crash(): void;
  freeze(how: Freeze): void;
  thaw(first: "timers" | "replies"): Promise<void>;
  /** From now on all goes well. */
  calm(): void;
}

export interface ProcessSurroundings {
  readonly time: Timeline;
  readonly chance: Chance;
  readonly service: Service;
  readonly network: Network;
  readonly store: DurableStore;
}

export function createProcess(
  name: string,
  { time, chance, service, network, store }: ProcessSurroundings,
): Process {
  let current: Life | undefined;
  let lives = 0;
  let ids = 0;

  function begin(): Life {
    lives += 1;
    const host = time.host(`${name}.${lives}`);
    const storeFates: StoreFate[] = [];
    const script: Script = { fates: new Map(), manners: new Map(), reads: [], heeds: true };
    const hf = createHoldfire({
      store: store.frontEnd(host, storeFates),
      witness: memoryWitness(),
      retry: {
        // So slow to come back that a call can find it empty until its deadline.
        budget: { perSecond: 0.05 },
        leaseMs: TIMES.lease,
        cooldownMs: TIMES.cooldown,
        storeTimeoutMs: TIMES.store,
        drainMs: TIMES.drain,
        maxDelayMs: 2_000,
      },
      surroundings: {
        clock: host.clock,
        random: chance.next,
        newId: () => {
          ids += 1;
          return `${host.name}-${ids}`;
        },
      },
    });
    const tools = createToolbox(hf, host, { service, network, chance }, script);
    return { host, hf, tools, script, storeFates };
  }

  const life = (): Life => {
    if (!current || current.host.state() === "dead") current = begin();
    return current;
  };
  return {
    name,
    life,
    isFrozen: () => current?.host.state() === "frozen",
    isRunning: () => current?.host.state() === "running",
    expect(op, { fates, reads, heeds, manner = "plain" }) {
      const { script } = life();
      script.fates.set(op, [...fates]);
      script.manners.set(op, manner);
      script.reads = [...reads];
      script.heeds = heeds;
    },
    expectOfStore(fates) {
      const { storeFates } = life();
      storeFates.splice(0, storeFates.length, ...fates);
    },
    crash() {
      const host = current?.host;
      if (!host || host.state() === "dead") return;
      host.kill();
      current?.tools.drop();
      service.hangUp(host, () => 0);
    },
    freeze(how) {
      const { host } = life();
      if (host.state() !== "running") return;
      host.freeze(how);
      // Its connections stay up, but no longer than it has said that its attempt would take.
      service.hangUp(host, (op) => Math.max(store.endOf(op) - time.now(), 0));
    },
    async thaw(first) {
      await current?.host.thaw(first);
    },
    calm() {
      if (!current) return;
      current.script.fates.clear();
      current.script.manners.clear();
      current.script.reads = [];
      current.storeFates.length = 0;
    },
  };
}
