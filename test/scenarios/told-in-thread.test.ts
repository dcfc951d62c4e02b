import { AsyncLocalStorage } from "node:async_hooks";
import { describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import type { Change, Store } from "../../src/ledger/store.ts";
import { type Fault, faults } from "../../src/testing/faulty-service.ts";
import { until } from "../engine/virtual-clock.ts";
import { keysOf, openWorld, TEA } from "./world.ts";

const turn = <T>(hf: Holdfire, name: string, fn: () => Promise<T>): Promise<T> =>
  hf.scope({ thread: "chat-7", turn: name }, fn);

/** Does something else right before the first write of this kind arrives at the store. */
function beforeWrite(
  store: Store,
  isIt: (change: Change) => boolean,
  meanwhile: () => Promise<unknown>,
): () => boolean {
  const { swap } = store;
  // Not inside the scope of the call that writes.
  const outside = AsyncLocalStorage.snapshot();
  let isMet = false;
  let isDone = false;
  const stopping = async (change: Change) => {
    const isFirst = !isMet && isIt(change);
    if (isFirst) {
      isMet = true;
      await outside(meanwhile);
    }
    const swapped = await swap(change);
    if (isFirst) isDone = true;
    return swapped;
  };
  Object.assign(store, { swap: stopping });
  return () => isDone;
}

const stateOf = ({ record }: Change) => record?.state.tag;

describe("what no caller was told yet is the same operation in the next turn", () => {
  test("done while a caller was told that it is open, and its call was being noted", async () => {
    const { service, hf, order, pass, store } = await openWorld();
    service.plan(faults.commitThenReset());
    const tea = order("neither");
    const first = await pass(turn(hf, "1", () => tea.outcome(TEA)));
    const isNoted = beforeWrite(
      store,
      ({ record }) => record?.state.tag === "unknown" && record.aliases.includes("ask-2"),
      () => hf.operations.resolve(first.id, { as: "committed", by: "ana" }),
    );
    const second = await pass(turn(hf, "2", () => tea.outcome(TEA, { aliases: ["ask-2"] })));
    expect(second).toMatchObject({ status: "unknown", id: first.id });
    await until(isNoted);
    const third = await pass(turn(hf, "3", () => tea.outcome(TEA)));
    expect(third).toMatchObject({ status: "committed", id: first.id });
    expect(service.arrivals).toHaveLength(1);
  });

  test("a caller that leaves while its outcome is written as told is told it", async () => {
    const { service, hf, order, pass, store, track } = await openWorld();
    const stop = new AbortController();
    const leave = async () => {
      stop.abort();
      await new Promise(setImmediate);
    };
    beforeWrite(
      store,
      (change) => stateOf(change) === "committed",
      () => track(leave()),
    );
    const tea = order("neither");
    const first = await pass(turn(hf, "1", () => tea.outcome(TEA, { signal: stop.signal })));
    // Told as open, and written as told: the next turn would have taken it for another wish.
    expect(first.status).toBe("committed");
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("a turn whose call did not happen, called again after another turn has fired", () => {
  async function refusedThen(...next: readonly Fault[]) {
    const world = await openWorld();
    const { service, hf, order, pass } = world;
    service.plan(faults.status({ status: 429 }), ...next);
    const tea = order("neither", { refuses: [429], attempts: 1 });
    const say = (name: string, retry?: string) => turn(hf, name, () => tea.outcome(TEA, { retry }));
    const first = await pass(say("1"));
    expect(first.status).toBe("not_applied");
    return { ...world, say, first };
  }

  test("joins what is open: there is one key that may still land", async () => {
    const { service, say, pass, first } = await refusedThen(faults.commitThenReset());
    const second = await pass(say("2"));
    expect(second.status).toBe("unknown");
    expect(second.id).not.toBe(first.id);
    expect(await pass(say("1", "it was refused"))).toMatchObject({
      status: "unknown",
      id: second.id,
    });
    expect(keysOf(service)).toEqual([first.key, second.key]);
  });

  test("also if that fires between its look at the thread and its claim", async () => {
    const { service, say, pass, first, store } = await refusedThen(faults.commitThenReset());
    let second: Awaited<ReturnType<typeof say>> | undefined;
    beforeWrite(
      store,
      (change) => change.id === first.id && stateOf(change) === "claimed",
      async () => {
        second = await say("2");
      },
    );
    const retried = await pass(say("1", "it was refused"));
    expect(second?.status).toBe("unknown");
    expect(retried).toMatchObject({ status: "not_applied", id: first.id });
    expect(keysOf(service)).toEqual([first.key, second?.key]);
  });

  test("fires its own again when all others are over", async () => {
    const { service, say, pass, first } = await refusedThen();
    const second = await pass(say("2"));
    const retried = await pass(say("1", "it was refused"));
    expect(retried).toMatchObject({ status: "committed", id: first.id });
    for (const name of ["1", "2"]) await pass(say(name));
    expect(keysOf(service)).toEqual([first.key, second.key, first.key]);
  });
});
