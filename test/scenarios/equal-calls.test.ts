/** Two equal wishes at once, of a service that stores no key: whose is the effect that a reader finds? */
import { expect, test as it, onTestFinished } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { absent, committed, type StateQuery } from "../../src/engine/define/reading.ts";
import { rememberingStore } from "../stores/remembering-store.ts";

interface Payout {
  readonly payee: string;
}

/** The reply of the first payout waits; the request of the second is lost. */
function openBank() {
  const made: { id: string; payee: string }[] = [];
  const hf = createHoldfire({ store: rememberingStore(Date.now) });
  onTestFinished(() => hf.close());
  const warned: unknown[] = [];
  hf.on("warning", (event) => warned.push(event));
  let requests = 0;
  let [arrive, release] = [() => {}, () => {}];
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const definition = {
    name: "pay_by_name",
    kind: "write" as const,
    run: async ({ payee }: Payout) => {
      requests += 1;
      if (requests === 2) throw new Error("The connection was lost.");
      const payout = { id: `p${made.length + 1}`, payee };
      made.push(payout);
      arrive();
      await released;
      return payout;
    },
    effect: { id: ({ id }: { id: string }) => id },
    readState: async ({ intent, taken }: StateQuery<Payout>) => {
      for (const payout of made) {
        const isFree = payout.payee === intent.payee && !(await taken(payout.id));
        if (isFree) return committed(payout, { effectId: payout.id });
      }
      return absent();
    },
  };
  return { hf, warned, made, definition, arrived, release: () => release() };
}

it("an answer that names an effect which another operation's reader has taken is told", async () => {
  const { hf, warned, definition, arrived, release } = openBank();
  // It takes the key, and does not look by it: what it finds is believed.
  const readState = (query: StateQuery<Payout>) => definition.readState({ ...query });
  const pay = hf.tool({ ...definition, readState });
  const first = pay.outcome({ payee: "ben" }, { scope: "one" });
  await arrived;
  const second = await pay.outcome({ payee: "ben" }, { scope: "two" });
  expect(warned).toEqual([]);
  release();
  const { id } = await first;
  expect(warned).toMatchObject([
    { code: "effect_mistaken", id, effectId: "p1", other: second.id, tool: "pay_by_name" },
  ]);
});

it("what a reader finds without the key is not taken while the equal call is under way", async () => {
  const { hf, warned, made, definition, arrived, release } = openBank();
  const pay = hf.tool(definition);
  const first = pay.outcome({ payee: "ben" }, { scope: "one" });
  await arrived;
  const second = await pay.outcome({ payee: "ben" }, { scope: "two", deadlineMs: 300 });
  expect(second.status).not.toBe("committed");
  release();
  expect(await first).toMatchObject({ status: "committed", result: { id: "p1" } });
  expect([made.length, warned]).toEqual([1, []]);
});

it("equal calls of one resource wait for each other, and none takes the effect of another", async () => {
  const { hf, warned, made, definition, arrived, release } = openBank();
  const pay = hf.tool({ ...definition, resource: ({ payee }) => `payout/${payee}` });
  const first = pay.outcome({ payee: "ben" }, { scope: "one" });
  await arrived;
  const second = await pay.outcome({ payee: "ben" }, { scope: "two", deadlineMs: 200 });
  expect(second.status).not.toBe("committed");
  release();
  expect(await first).toMatchObject({ status: "committed", result: { id: "p1" } });
  expect([made.length, warned]).toEqual([1, []]);
});

it("a reader that names no effect is asked by the tool's own `effect.id`, and takes none of another call", async () => {
  const { hf, made, definition, release } = openBank();
  release();
  const found = ({ intent }: StateQuery<Payout>) =>
    made.find(({ payee }) => payee === intent.payee);
  const readState = async (query: StateQuery<Payout>) => {
    const payout = found(query);
    return payout ? committed(payout) : absent();
  };
  const pay = hf.tool({ ...definition, readState });
  expect(await pay.outcome({ payee: "ben" }, { scope: "one" })).toMatchObject({
    status: "committed",
    effectId: "p1",
  });
  const second = await pay.outcome({ payee: "ben" }, { scope: "two", deadlineMs: 300 });
  expect([second.status, made.length]).toEqual(["unknown", 1]);
});

it.each(["updated", "deleted", "noop"] as const)(
  "a thing that was %s before is no other call's effect: a reader that finds it so is believed",
  async (type) => {
    const hf = createHoldfire({ store: rememberingStore(Date.now) });
    onTestFinished(() => hf.close());
    const customer = { id: "c1", name: "" };
    const rename = hf.tool({
      name: "rename_customer",
      kind: "write",
      run: async ({ name }: { readonly name: string }) => {
        customer.name = name;
        if (name === "bob") throw new Error("The connection was lost.");
        return { ...customer };
      },
      effect: { type: () => type, id: ({ id }: { id: string }) => id },
      readState: async ({ intent }: StateQuery<{ name: string }>) =>
        customer.name === intent.name ? committed({ ...customer }) : absent(),
    });
    await rename.outcome({ name: "ann" }, { scope: "one" });
    const second = await rename.outcome({ name: "bob" }, { scope: "two", deadlineMs: 300 });
    expect(second).toMatchObject({ status: "committed", result: { id: "c1", name: "bob" } });
  },
);
