/** What can happen in a sequence: calls with their fates, and what people, clocks and machines do. */

import fc, { type Arbitrary, type AsyncCommand } from "fast-check";
import { FATES, READ_FATES, STORE_FATES } from "./world/fates.ts";
import { TIMES, type ToolClass } from "./world/settings.ts";
import { person } from "./world/person.ts";
import type { Outage } from "./world/store.ts";
import type { CallSpec, World } from "./world/world.ts";

/** What the generator must know to make no impossible move. */
export interface Model {
  readonly frozen: Set<number>;
}

export type Command = AsyncCommand<Model, World>;

/** `wait` is how long the world goes on before the next command. */
function call(process: number, spec: CallSpec, wait: number): Command {
  return {
    check: ({ frozen }) => !frozen.has(process),
    async run(_, world) {
      world.call(world.process(process), spec);
      await world.time.advance(wait);
    },
    toString: () => `call(p${process}, ${JSON.stringify(spec)}) wait ${wait}`,
  };
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

const processes = fc.nat({ max: 2 });

const tools: Arbitrary<ToolClass> = fc.constantFrom<ToolClass>(
  ...(["K", "K", "R", "R", "R", "KR", "KR", "C", "CR", "N", "N", "RU", "L", "KU", "RB", "X", "KB"] as const),
);

const fates = fc.array(fc.constantFrom(...FATES), { maxLength: 3 });
/** One after the other, until the retry budget is empty. */
const storm = fc.constant(Array.from({ length: 14 }, () => "error-before" as const));

const stores = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...STORE_FATES), { maxLength: 6 }) },
);

const reads = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...READ_FATES), { maxLength: 4 }) },
);

const sometimes = <T>(arbitrary: Arbitrary<T>, nil = 6): Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: nil });

const specs: Arbitrary<CallSpec> = fc
  .record({
    tool: tools,
    scope: fc.constantFrom("s1", "s1", "s2"),
    what: fc.constantFrom("a", "a", "a", "b"),
    again: sometimes(fc.constant("x")),
    key: sometimes(fc.constantFrom("k1", "k2"), 12),
    retry: fc.constantFrom(false, false, true),
    note: fc.constantFrom("n1", "n1", "n1", "n1", "n2"),
    deadlineMs: fc.constantFrom(TIMES.deadline, TIMES.deadline, 4_000, 900),
    abortAfter: sometimes(fc.constantFrom(0, 10, 45, 90, 1_000)),
    fates,
    reads,
    store: stores,
    heeds: fc.boolean(),
  })
  .chain((spec) =>
    spec.tool === "KB" ? storm.map((those) => ({ ...spec, fates: those })) : fc.constant(spec),
  );

const waits = fc.constantFrom(0, 3, 20, 60, 150, 1_600, 7_000, 14_000);

const calls = fc.tuple(processes, specs, waits).map(([process, spec, wait]) => call(process, spec, wait));

const crashes = processes.map((index) =>
  event(`crash p${index}`, (world) => {
    world.process(index).crash();
  }),
);

const freezes = fc
  .tuple(processes, fc.constantFrom("stopped", "stopped", "suspended"))
  .map(([index, how]): Command => ({
    check: ({ frozen }) => !frozen.has(index),
    run: async ({ frozen }, world) => {
      world.hits.hit(`event:freeze-${how}`);
      frozen.add(index);
      world.process(index).freeze(how);
    },
    toString: () => `freeze p${index} ${how}`,
  }));

const thaws = fc
  .tuple(processes, fc.constantFrom("timers", "replies"))
  .map(([index, first]): Command => ({
    check: ({ frozen }) => frozen.has(index),
    run: async ({ frozen }, world) => {
      world.hits.hit("event:thaw");
      frozen.delete(index);
      await world.process(index).thaw(first);
    },
    toString: () => `thaw p${index} ${first} first`,
  }));

const advances = fc
  .constantFrom(10, 500, 2_500, 6_500, 12_000, 40_000, TIMES.keyMemory * 0.9, TIMES.keyMemory)
  .map((ms) => event(`advance ${ms}`, (world) => world.time.advance(ms)));

const outages = fc.constantFrom<Outage | undefined>("refuses", "hangs", undefined, undefined).map((how) =>
  event(how ? `store-down ${how}` : "store-up", (world) => world.store.down(how)),
);

const losses = fc
  .tuple(processes, fc.array(fc.constantFrom(...STORE_FATES), { minLength: 1, maxLength: 4 }))
  .map(([index, those]) =>
    event(`store-fates p${index} ${those}`, (world) => world.process(index).expectOfStore(those)),
  );

const steps = fc
  .tuple(processes, fc.constantFrom(90_000, -90_000, 86_400_000, -86_400_000))
  .map(([index, ms]) =>
    event(`wall-step p${index} ${ms}`, (world) => world.process(index).life().host.stepWall(ms)),
  );

const people = fc.constant(event("person", person));

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
async function prune(world: World, query: { payloads: boolean; tombstones: boolean }): Promise<void> {
  const { history } = world.store;
  const from = history.length;
  await world.store.prune(query);
  for (const { before, after } of history.slice(from)) {
    if (!before || after) continue;
    const op = before.aliases[0] ?? "";
    world.forgotten.set(op, (world.forgotten.get(op) ?? 0) + 1);
  }
}

export const commands = (maxCommands: number): Arbitrary<Iterable<Command>> =>
  fc.commands<Model, World, false>(
    // Each is listed as often as it is to be drawn.
    [
      ...Array.from({ length: 14 }, () => calls),
      ...Array.from({ length: 3 }, () => advances),
      ...Array.from({ length: 2 }, () => crashes),
      ...Array.from({ length: 2 }, () => freezes),
      ...Array.from({ length: 3 }, () => thaws),
      outages,
      losses,
      steps,
      people,
      prunes,
      powerCuts,
    ] as unknown as Arbitrary<Command>[],
    { maxCommands, size: "max" },
  ) as unknown as Arbitrary<Iterable<Command>>;
