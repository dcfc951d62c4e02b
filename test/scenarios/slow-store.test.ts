/** A store that takes a while for each answer, and is up: its answer may come after the deadline of a call that has waited. */
import { describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import type { Outcome } from "../../src/engine/operation/outcome.ts";
import type { EffectBody } from "../../src/testing/faulty-service.ts";
import { rememberingStore } from "../stores/remembering-store.ts";
import { type OrderOptions, type OrderTool, openWorld, TEA, type World } from "./world.ts";

const ANSWERS_AFTER_MS = 20;
const ONCE = { scope: "s" };

/** So close to each other that some of the calls ask the store just before their deadline. */
const DEADLINES = Array.from({ length: 100 }, (_, index) => 6_000 + 10 * index);

/** One process is at its order for as long as the test takes; another one does `work` on the slow store. */
async function whileOneIsOrdered<T>(
  options: OrderOptions,
  work: (order: OrderTool, hf: Holdfire, world: World) => Promise<T>,
): Promise<T> {
  let answersAfterMs = 0;
  const world = await openWorld({
    store: (now) => {
      const store = rememberingStore(now);
      const late = async () => {
        if (answersAfterMs === 0) return;
        await new Promise<void>((resolve) => world.clock.after(answersAfterMs, resolve));
      };
      return {
        ...store,
        swap: (change) => late().then(() => store.swap(change)),
        read: (...asked) => late().then(() => store.read(...asked)),
        readLane: (...asked) => late().then(() => store.readLane(...asked)),
      };
    },
  });
  let land: (result: EffectBody) => void = () => {};
  const run = () => new Promise<EffectBody>((resolve) => (land = resolve));
  const slow = world.order("neither", { ...options, run, attemptTimeoutMs: 50_000 });
  const first = slow.outcome(TEA, ONCE);
  await world.clock.settle();
  answersAfterMs = ANSWERS_AFTER_MS;
  const hf = world.another();
  const told = await world.pass(work(world.order("neither", options, hf), hf, world));
  land({ id: "ef_1" } as EffectBody);
  expect(await world.pass(first)).toMatchObject({ status: "committed" });
  return told;
}

/** What a call of each deadline is told, without the doublets. */
async function toldByDeadline(
  options: OrderOptions,
  call: (order: OrderTool, deadlineMs: number, hf: Holdfire) => Promise<Outcome<unknown>>,
): Promise<readonly string[]> {
  const told = new Set<string>();
  for (const deadlineMs of DEADLINES) {
    const outcome = await whileOneIsOrdered(options, (order, hf) =>
      call(order, deadlineMs, hf).catch((error: Error) => ({ status: error.name })),
    );
    const { status, reason = "" } = outcome as {
      readonly status: string;
      readonly reason?: string;
    };
    told.add(`${status} ${reason}`.trim());
  }
  return [...told];
}

describe("a call whose time is up while the store is asked", () => {
  test("is told that another process is at it, as the store has said before", async () => {
    const told = await toldByDeadline({}, (order, deadlineMs) =>
      order.outcome(TEA, { ...ONCE, deadlineMs }),
    );
    expect(told).toEqual(["in_progress"]);
  });

  test("is told who is in its lane, as the store has said before", async () => {
    const told = await toldByDeadline({ resource: () => "account/1" }, (order, deadlineMs) =>
      order.outcome({ item: "coffee" }, { ...ONCE, deadlineMs }),
    );
    expect(told).toEqual(["held lane"]);
  });

  test("inside another operation: that one is not told as not applied, since the inner one is under way", async () => {
    const told = await toldByDeadline({}, (order, deadlineMs, hf) => {
      const trip = hf.tool({
        name: "trip",
        kind: "write",
        attemptTimeoutMs: 50_000,
        run: (_: { readonly to: string }) => order(TEA, { ...ONCE, deadlineMs }),
      });
      return trip.outcome({ to: "Rome" }, { scope: "trip" });
    });
    expect(told).toEqual(["unknown partial"]);
  });
});
