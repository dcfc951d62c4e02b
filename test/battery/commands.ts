/** What can happen in a sequence: calls with their fates, and what people, clocks and machines do. */

import fc, { type Arbitrary, type AsyncCommand } from "fast-check";
import { storeFates, type Wish, wishes } from "./wishes.ts";
import { approver, person } from "./world/person.ts";
import { TIMES, type ToolClass, traitsOf } from "./world/settings.ts";
import type { Outage } from "./world/store.ts";
import type { World } from "./world/world.ts";

/** What the generator must know to make no impossible move. */
export interface Model {
  readonly frozen: Set<number>;
  /** The two tools of this sequence; few, so that calls meet. */
  readonly cast: readonly ToolClass[];
}

export type Command = AsyncCommand<Model, World>;

/** `wait` is how long the world goes on before the next command. */
function call(process: number, wish: Wish, wait: number): Command {
  return {
    check: ({ frozen }) => !frozen.has(process),
    async run({ cast }, world) {
      const tool = castFor(world, cast[wish.tool] ?? "K");
      const { fates = [] } = wish;
      // So many attempts that the retry budget runs out before they do.
      const all = tool === "KB" && fates.length > 1 ? Array(14).fill("lost-request") : fates;
      world.call(world.process(process), { ...wish, tool, fates: all });
      await world.time.advance(wait);
    },
    toString: () => `call(p${process}, ${JSON.stringify(wish)}) wait ${wait}`,
  };
}

/** A store that may forget takes no write that can be neither recognised nor read. */
function castFor({ forgets }: World, tool: ToolClass): ToolClass {
  const { keyed, conditional, readable, composite } = traitsOf(tool);
  if (!forgets || (readable && !composite)) return tool;
  return keyed || conditional ? "KR" : "R";
}

function event(name: string, run: (world: World) => Promise<void> | void): Command {
  return {
    check: () => true,
    async run(_, world) {
      world.hits.hit(`event:${name.split(" ")[0]}`);
      await run(world);
      await world.time.drain();
    },
    toString: () => name,
  };
}

const processes = fc.constantFrom(0, 0, 0, 1, 1, 2);

const waits = fc.constantFrom(0, 3, 20, 60, 150, 1_600, 7_000, 14_000);

const calls = fc
  .tuple(processes, wishes, waits)
  .map(([process, wish, wait]) => call(process, wish, wait));

const crashes = processes.map((index) =>
  event(`crash p${index}`, (world) => {
    world.process(index).crash();
  }),
);

const freezes = fc.tuple(processes, fc.constantFrom("stopped", "stopped", "suspended")).map(
  ([index, how]): Command => ({
    check: ({ frozen }) => !frozen.has(index),
    run: async ({ frozen }, world) => {
      world.hits.hit(`event:freeze-${how}`);
      frozen.add(index);
      world.process(index).freeze(how);
    },
    toString: () => `freeze p${index} ${how}`,
  }),
);

/** Wakes the first that stands still. */
const thaws = fc.constantFrom("timers", "replies").map(
  (first): Command => ({
    check: ({ frozen }) => frozen.size > 0,
    run: async ({ frozen }, world) => {
      world.hits.hit("event:thaw");
      const [index = 0] = frozen;
      frozen.delete(index);
      await world.process(index).thaw(first);
    },
    toString: () => `thaw, ${first} first`,
  }),
);

const JUMPS = [10, 500, 2_500, 6_500, 12_000, 40_000, TIMES.keyMemory * 0.9, TIMES.keyMemory];

/** A process stands still and wakes again; meanwhile the others go on. */
const stalls = fc
  .record({
    process: processes,
    how: fc.constantFrom("stopped", "stopped", "suspended"),
    ms: fc.constantFrom(...JUMPS),
    first: fc.constantFrom("timers", "replies"),
  })
  .map(
    ({ process, how, ms, first }): Command => ({
      check: ({ frozen }) => !frozen.has(process),
      run: async (_, world) => {
        world.hits.hit(`event:stall-${how}`);
        world.process(process).freeze(how);
        await world.time.advance(ms);
        await world.process(process).thaw(first);
      },
      toString: () => `stall p${process} ${how} for ${ms}, ${first} first`,
    }),
  );

const advances = fc
  .constantFrom(...JUMPS)
  .map((ms) => event(`advance ${ms}`, (world) => world.time.advance(ms)));

const outages = fc
  .constantFrom<Outage | undefined>("refuses", "hangs", undefined, undefined)
  .map((how) => event(how ? `store-down ${how}` : "store-up", (world) => world.store.down(how)));

const losses = fc
  .tuple(processes, fc.array(storeFates, { minLength: 1, maxLength: 4 }))
  .map(([index, those]) =>
    event(`store-fates p${index} ${those}`, (world) => world.process(index).expectOfStore(those)),
  );

const steps = fc
  .tuple(processes, fc.constantFrom(90_000, -90_000, 86_400_000, -86_400_000))
  .map(([index, ms]) =>
    event(`wall-step p${index} ${ms}`, (world) => {
      world.clocksSet.add(index);
      world.process(index).life().host.stepWall(ms);
    }),
  );

const storeSteps = fc.constantFrom(40_000, -40_000).map((ms) =>
  event(`store-clock ${ms}`, (world) => {
    world.clocksSet.add("store");
    world.store.stepClock(ms);
  }),
);

/** Where the store may forget, it forgets this one. */
const evictions = fc.nat({ max: 7 }).map((which) =>
  event(`forget ${which}`, async (world) => {
    const records = world.forgets ? await world.store.dump() : [];
    const record = records[which % records.length];
    if (!record) return;
    world.hits.hit("evicted");
    const [op = ""] = record.aliases;
    world.forgotten.set(op, (world.forgotten.get(op) ?? 0) + 1);
    await world.store.evict(record);
  }),
);

const people = fc.constant(event("person", person));

/** A person lets a held call pass, and the model makes it again. */
const approvals = fc.constantFrom(0, 60, 14_000).map(
  (wait): Command => ({
    check: ({ frozen }) => frozen.size < 3,
    run: async ({ frozen }, world) => {
      const op = await approver(world);
      const held = world.calls.findLast((one) => one.op === op && one.spec.step !== undefined);
      const process = [0, 1, 2].find((index) => !frozen.has(index)) ?? 0;
      if (held) world.call(world.process(process), { ...held.spec, abortAfter: undefined });
      await world.time.advance(wait);
    },
    toString: () => `approve wait ${wait}`,
  }),
);

const prunes = fc
  .record({ payloads: fc.boolean(), tombstones: fc.constantFrom(false, false, true) })
  .map((query) => event(`prune ${JSON.stringify(query)}`, (world) => prune(world, query)));

const powerCuts = fc.constant(
  event("power-cut", async (world) => {
    for (const process of world.processes) process.crash();
    await world.store.failPower();
  }),
);

/** Removing what is settled lets it be fired again: the log says so, and the checker allows for it. */
async function prune(
  world: World,
  query: { payloads: boolean; tombstones: boolean },
): Promise<void> {
  const { history } = world.store;
  const from = history.length;
  await world.store.prune(query);
  for (const { before, after } of history.slice(from)) {
    if (!before || after) continue;
    const op = before.aliases[0] ?? "";
    world.forgotten.set(op, (world.forgotten.get(op) ?? 0) + 1);
  }
}

/** `replayPath` is printed with a failure; without it a shrunk sequence cannot be run again. */
export const commands = (maxCommands: number, replayPath?: string): Arbitrary<Iterable<Command>> =>
  fc.commands<Model, World, false>(
    // Each is listed as often as it is to be drawn.
    [
      ...Array.from({ length: 18 }, () => calls),
      ...Array.from({ length: 3 }, () => advances),
      ...Array.from({ length: 2 }, () => crashes),
      ...Array.from({ length: 2 }, () => freezes),
      ...Array.from({ length: 2 }, () => thaws),
      ...Array.from({ length: 2 }, () => stalls),
      outages,
      losses,
      steps,
      people,
      ...Array.from({ length: 5 }, () => approvals),
      prunes,
      powerCuts,
      storeSteps,
      ...Array.from({ length: 2 }, () => evictions),
    ] as unknown as Arbitrary<Command>[],
    { maxCommands, size: "max", ...(replayPath === undefined ? {} : { replayPath }) },
  ) as unknown as Arbitrary<Iterable<Command>>;
