/** An owner that lost its operation files the yes it heard: whoever settles it has that result, too. */
import { expect, test } from "vitest";
import { engineOf } from "../../src/engine/engine-of.ts";
import { openWorld } from "./world.ts";

const ONCE = { scope: "job-1" };

test("the next caller after a takeover gets the result that was filed, as later ones do", async () => {
  const { hf, another, clock, pass } = await openWorld();
  const hang = hf.tool({
    name: "pay",
    kind: "write",
    run: (_: object) => new Promise<string>(() => {}),
  });
  let id = "";
  hf.on("attempt", (event) => {
    ({ id } = event);
  });
  void hang.outcome({}, { ...ONCE, deadlineMs: 3_600_000 });
  await expect.poll(() => id).not.toBe("");

  const other = another();
  const { ledger, codec } = engineOf(other);
  const ref = { tenant: "default", id };
  const encoded = codec.encode("paid", { ...ref, tool: "pay" });
  const payload = encoded.ok ? encoded.payload : undefined;
  await ledger.open();
  const evidence = {
    attempt: 1,
    epoch: 1,
    at: clock.now(),
    verdict: "committed",
    payload,
  } as const;
  const move = { move: "file", evidence, dedupes: false, at: clock.now() } as const;
  expect(await ledger.move(ref, move)).toMatchObject({ tag: "moved" });

  // The first process stands still: its lease runs out.
  const state = (await ledger.read(ref))?.record.state;
  const holder = state?.tag === "claimed" ? state.holder : "";
  const renewed = { move: "renew", epoch: 1, holder, leaseMs: 1 } as const;
  expect(await engineOf(hf).ledger.move(ref, renewed)).toMatchObject({ tag: "moved" });
  const run = async (_: object): Promise<string> => expect.unreachable();
  const pay = other.tool({ name: "pay", kind: "write", service: "pay", run });
  const first = await pass(pay.outcome({}, ONCE));
  expect(first).toMatchObject({ status: "committed", result: "paid" });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "committed", result: "paid" });
});
