/** What a call was told by the ledger may have changed by the time that it has noted that it was told. */
import { expect, test } from "vitest";
import { absent } from "../../src/engine/define/reading.ts";
import { notApplied } from "../../src/index.ts";
import type { Change, Store } from "../../src/ledger/store.ts";
import type { EffectBody } from "../../src/testing/faulty-service.ts";
import { type OrderOptions, openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

test("a caller that joins while another one's repeat is being noted is told what is so when it comes", async () => {
  const { clock, store, order, another, pass } = await openWorld();
  let fails = true;
  const declined: OrderOptions = {
    readState: absent,
    run: async () => {
      await new Promise<void>((resolve) => clock.after(100, resolve));
      if (fails) throw notApplied("declined");
      return { id: "ef_1" } as EffectBody;
    },
  };
  // Its only caller leaves, so nobody is told.
  const stop = new AbortController();
  const first = order("neither", declined).outcome(TEA, { ...ONCE, signal: stop.signal });
  await clock.settle();
  stop.abort();
  await pass(first);
  await clock.advance(200);

  const isNote = ({ record }: Change) => record?.state.tag === "not_applied";
  const slow: Store = {
    ...store,
    swap: (change) => (isNote(change) ? new Promise<never>(() => {}) : store.swap(change)),
  };
  const other = order("neither", declined, another({ store: slow }));
  const second = other.outcome(TEA, ONCE);
  await clock.advance(10);
  fails = false;
  const retried = order("neither", declined).outcome(TEA, { ...ONCE, retry: "the card is valid" });
  expect(await pass(retried)).toMatchObject({ status: "committed" });
  const third = other.outcome(TEA, ONCE);
  expect(await pass(third)).toMatchObject({ status: "committed", replayed: true });
  await pass(second);
});
