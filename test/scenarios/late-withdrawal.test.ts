/** A claim that is taken back and made again, on a store that answers late. */
import { expect, test } from "vitest";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { type FailingStore, failingStore } from "../engine/failing-store.ts";
import { openWorld, TEA } from "./world.ts";

test("a withdrawal that reaches the store late does not take back the claim that came after it", async () => {
  const made: FailingStore[] = [];
  let whenRead = async () => {};
  const { hf, another, order, pass, clock } = await openWorld({
    store: (now) => {
      const failing = failingStore({ now, forgets: "accepted" });
      made.push(failing);
      return {
        ...failing,
        read: (tenant, id) => failing.read(tenant, id).finally(() => whenRead()),
      };
    },
    hf: { witness: memoryWitness() },
  });
  const [failing] = made as [FailingStore];
  let isLost = true;
  let fired = 0;
  let answer = (_: { id: string }) => {};
  let onFired = () => {};
  const firing = new Promise<void>((resolve) => {
    onFired = resolve;
  });
  const options = {
    attempts: 1,
    // It is not read for an operation that would not be fired, so a claim that fires after all is taken back.
    precondition: () => "version 1",
    run: async () => {
      if (isLost) throw new Error("lost");
      fired += 1;
      onFired();
      return new Promise<{ id: string }>((resolve) => {
        answer = resolve;
      });
    },
  };
  const tea = order("neither", options as never);
  expect(await pass(tea.outcome(TEA, { scope: "s" }))).toMatchObject({ status: "unknown" });
  isLost = false;
  const { id } = (await hf.operations.list()).items[0] ?? { id: "" };
  whenRead = async () => {
    whenRead = async () => {};
    await hf.operations.resolve(id, { as: "not_applied", by: "ana", anyway: true });
  };
  let late = 0;
  failing.fail("hangs", (_, change) => {
    // The first is what the person says, the second takes back.
    late += change?.record?.state.tag === "not_applied" ? 1 : 0;
    return change?.record?.state.tag === "not_applied" && late === 2;
  });
  const first = tea.outcome(TEA, { scope: "s" });
  // No time may pass once it is fired, or its own would be up.
  await clock.run(firing);
  failing.recover();
  await clock.settle();
  expect((await hf.operations.list()).items).toMatchObject([{ status: "claimed" }]);

  const again = order("neither", options as never, another());
  const second = again.outcome(TEA, { scope: "s", retry: "asked again" });
  await clock.settle();
  answer({ id: "effect-1" });
  expect(await pass(first)).toMatchObject({ status: "committed", replayed: false });
  expect(await pass(second)).toMatchObject({ status: "committed", replayed: true });
  expect(fired).toBe(1);
});
