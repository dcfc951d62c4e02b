/** A record that is evicted under its owner, and claimed anew by another process: the first owner owns nothing any more. */
import { expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { memoryStore } from "../../src/stores/memory.ts";

const ONCE = { scope: "s" };

function gate() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

function open() {
  const store = memoryStore();
  const paid: string[] = [];
  const process = (name: string, run: (attempt: number) => Promise<void>) => {
    const hf = createHoldfire({ store, witness: memoryWitness(), retry: { minDelayMs: 1 } });
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      service: "bank",
      classify: () => "not_sent",
      commitsWithinMs: 1,
      readState: () => (paid.length > 0 ? committed("paid") : absent()),
      run: async (_: { readonly to: string }, { attempt }) => {
        await run(attempt);
        paid.push(name);
        return "paid";
      },
    });
    return { hf, pay };
  };
  const evict = async (id: string) => {
    const { stored } = await store.read("default", id);
    const change = { tenant: "default", id, expect: stored?.version ?? 0, record: undefined };
    await store.swap({ ...change, lease: "none" });
  };
  return { store, paid, process, evict };
}

test("it fires no second attempt under the claim of the other", async () => {
  const { store, paid, process, evict } = open();
  const [began, refused, slow, sending] = [gate(), gate(), gate(), gate()];
  const first = process("first", async (attempt) => {
    if (attempt > 1) return;
    began.resolve();
    await refused.promise;
    throw new Error("connection refused");
  });
  const second = process("second", async () => {
    sending.resolve();
    await slow.promise;
  });
  const one = first.pay.outcome({ to: "ana" }, ONCE);
  await began.promise;
  const { items } = await store.list({ tenant: "default" });
  await evict(items[0]?.record.id ?? "");
  const other = second.pay.outcome({ to: "ana" }, ONCE);
  await sending.promise;

  const lost: string[] = [];
  first.hf.on("warning", ({ code }) => void lost.push(code));
  refused.resolve();
  await expect.poll(() => lost).toContain("lease_lost");
  expect(paid).toEqual([]);
  slow.resolve();
  expect(await other).toMatchObject({ status: "committed" });
  await one;
  expect(paid).toEqual(["second"]);
  await Promise.all([first.hf.close(), second.hf.close()]);
});

test.each(["first", "second"])(
  "both were paid, and the %s one settled first: the two effects are told as a duplicate",
  async (early) => {
    const { store, paid, process, evict } = open();
    const gates = { first: gate(), second: gate() };
    const [began, sending] = [gate(), gate()];
    const first = process("first", async () => {
      began.resolve();
      await gates.first.promise;
    });
    const second = process("second", async () => {
      sending.resolve();
      await gates.second.promise;
    });
    const told: string[] = [];
    for (const { hf } of [first, second])
      hf.on("duplicate", ({ source }) => void told.push(source));
    const calls = { first: first.pay.outcome({ to: "ana" }, ONCE), second: began.promise };
    await began.promise;
    const { items } = await store.list({ tenant: "default" });
    await evict(items[0]?.record.id ?? "");
    await expect.poll(() => Date.now()).toBeGreaterThan(items[0]?.record.createdAt ?? 0);
    calls.second = second.pay.outcome({ to: "ana" }, ONCE).then(() => {});
    await sending.promise;
    const [one, other] =
      early === "first" ? (["first", "second"] as const) : (["second", "first"] as const);
    gates[one].resolve();
    await calls[one];
    gates[other].resolve();
    await calls[other];
    await expect.poll(() => told).toEqual(["late"]);
    expect(paid).toHaveLength(2);
    await Promise.all([first.hf.close(), second.hf.close()]);
  },
);
