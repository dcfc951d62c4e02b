import { expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { absent, committed } from "../../src/engine/define/reading.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { createChance } from "../battery/world/chance.ts";
import { virtualClock } from "../engine/virtual-clock.ts";

const TENANT = "default";
const NAME = "record/1";
const OPEN = ["claimed", "unknown"] as const;
const SEEDS = Number(process.env.RUNS ?? 40);

type Chance = ReturnType<typeof createChance>;

/** A network before the store: slow, and it may lose what is asked or what is answered. */
function faraway(store: Store, wait: () => Promise<void>, chance: Chance, calm: () => boolean) {
  const over =
    <A extends unknown[], R>(call: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      await wait();
      const fate = calm() ? 1 : chance.next();
      if (fate < 0.03) throw new Error("the store is unreachable");
      const answer = await call(...given);
      await wait();
      if (fate < 0.06) throw new Error("the answer was lost");
      return answer;
    };
  const { swap, read, readLane, own, ownerOf, list } = store;
  return {
    ...store,
    swap: over(swap),
    read: over(read),
    readLane: over(readLane),
    own: over(own),
    ownerOf: over(ownerOf),
    list: over(list),
  };
}

async function storm(seed: number): Promise<{ trespasses: string[]; twice: number }> {
  const chance = createChance(seed);
  const clock = virtualClock();
  const store = memoryStore({ now: clock.now, forgets: "accepted" });
  const wait = (): Promise<void> =>
    new Promise((resolve) => clock.after(chance.between(1, 40), resolve));
  let isCalm = false;
  const effects: string[] = [];
  const trespasses: string[] = [];

  const toolOf = () => {
    const hf = createHoldfire({
      store: faraway(store, wait, chance, () => isCalm),
      surroundings: { clock, random: () => chance.next() },
      retry: { cooldownMs: 1 },
    });
    return hf.tool({
      name: "write",
      kind: "write",
      resource: () => NAME,
      onDrift: "allow",
      attemptTimeoutMs: 2_000,
      commitsWithinMs: 0,
      readState: async ({ key }) => (effects.includes(key) ? committed(key) : absent()),
      run: async (_: { readonly n: number }, { key }) => {
        const { items: open } = await store.list({ tenant: TENANT, resource: NAME, states: OPEN });
        if (open.length !== 1) trespasses.push(open.map(({ record }) => record.id).join(" and "));
        await wait();
        const fate = isCalm ? 1 : chance.next();
        if (fate < 0.1) throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
        effects.push(key);
        if (fate < 0.3) throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
        if (fate < 0.4) await new Promise<void>((resolve) => clock.after(4_000, resolve));
        return key;
      },
    });
  };
  const tools = Array.from({ length: 3 }, toolOf);
  const agent = async (who: number): Promise<void> => {
    for (let round = 0; round < 6; round += 1) {
      const stop = new AbortController();
      if (chance.next() < 0.2) clock.after(chance.between(10, 500), () => stop.abort());
      const write = tools[chance.between(0, tools.length - 1)];
      // Now and then the same thing as another agent.
      const n = chance.next() < 0.3 ? round : who * 100 + round;
      const options = { scope: "storm", signal: stop.signal, deadlineMs: 20_000 };
      await write?.outcome({ n }, options).catch(() => {});
    }
  };
  await clock.run(Promise.all([0, 1, 2, 3].map(agent)));
  isCalm = true;
  // Leases run out, late replies come in, what is open is read by its own call.
  await clock.advance(120_000);
  for (let pass = 0; pass < 3; pass += 1) {
    const { items } = await store.list({ tenant: TENANT, states: OPEN });
    if (items.length === 0) break;
    for (const n of Array.from({ length: 6 }, (_, round) => round)) {
      for (const who of [0, 1, 2, 3]) {
        for (const one of [n, who * 100 + n]) {
          const outcome = tools[0]?.outcome({ n: one }, { scope: "storm" });
          await clock.run(outcome?.catch(() => {}) ?? Promise.resolve());
        }
      }
    }
  }
  const last = await clock.run(toolOf().outcome({ n: -1 }, { scope: "after" }));
  expect(last.status, `seed ${seed}: the lane is free in the end`).toBe("committed");
  return { trespasses, twice: effects.length - new Set(effects).size };
}

test(`${SEEDS} storms: nothing is written while another is open, and the lane is free in the end`, async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    expect(await storm(seed), `seed ${seed}`).toEqual({ trespasses: [], twice: 0 });
  }
}, 120_000);
