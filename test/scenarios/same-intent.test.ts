/** Two wishes for the same: what a search finds for one of them may be the effect of the other, whose reply is on its way. */
import { expect, test } from "vitest";
import type { AttemptContext } from "../../src/engine/define/definition.ts";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { until } from "../engine/virtual-clock.ts";
import { startService } from "../wire/servers.ts";
import { openWorld, type WorldOptions } from "./world.ts";

interface Payout {
  readonly id: string;
  readonly key: string;
}

const ANA = { payee: "ana" };

/** The bank makes the first payout and holds back its reply; it makes nothing of the second, whose connection breaks. */
async function openBank(
  find: "by_key" | "by_likeness",
  options: WorldOptions = {},
  deadlineMs = 60_000,
) {
  const world = await openWorld(options);
  const made: Payout[] = [];
  let writes = 0;
  let reads = 0;
  let answerFirst = () => {};
  const bank = await startService((request, response) => {
    if (request.method === "GET") {
      reads += 1;
      return void response.end(JSON.stringify(made));
    }
    writes += 1;
    if (writes === 2) return void request.socket.destroy();
    const payout = { id: `payout-${writes}`, key: String(request.headers["x-key"]) };
    made.push(payout);
    const answer = () => response.end(JSON.stringify(payout));
    if (writes === 1) answerFirst = answer;
    else answer();
  });
  const post = async (key: string): Promise<Payout> => {
    const sent = fetch(bank.url, { method: "POST", body: "{}", headers: { "x-key": key } });
    // Time does not stand still while the first reply is held back.
    const answer = await (key === made[0]?.key || writes === 0 ? sent : world.track(sent));
    return (await answer.json()) as Payout;
  };
  const pay = world.hf.tool({
    name: "pay",
    kind: "write",
    commitsWithinMs: 1_000,
    effect: { id: (payout: Payout) => payout.id },
    run: (_: { readonly payee: string }, { key }: AttemptContext) => post(key),
    readState: async (query) => {
      const all = (await (await world.track(fetch(bank.url))).json()) as readonly Payout[];
      if (find === "by_key") {
        const own = all.find(({ key }) => key === query.key);
        return own ? committed(own, { effectId: own.id }) : absent();
      }
      for (const one of all) {
        if (!(await query.taken(one.id))) return committed(one, { effectId: one.id });
      }
      return absent();
    },
  });
  const first = pay.outcome(ANA, { scope: "invoice-1" });
  await until(() => made.length === 1);
  const second = pay.outcome(ANA, { scope: "invoice-2", deadlineMs });
  return {
    ...{ ...world, made, pay, first, second, answerFirst: () => answerFirst() },
    isRead: (count: number) => until(() => reads >= count),
  };
}

test("what is found by likeness is not taken while an equal operation is under way", async () => {
  const { pass, clock, made, first, second, answerFirst, isRead } = await openBank("by_likeness");
  await isRead(1);
  await clock.settle();
  answerFirst();
  expect(await first).toMatchObject({ status: "committed", effectId: "payout-1" });
  const paidAgain = { status: "committed", effectId: "payout-3", attempts: 2, licence: "absent" };
  expect(await pass(second)).toMatchObject(paidAgain);
  expect(made).toHaveLength(2);
});

test("where that one does not end in time, it stays unknown, and that is not told as the service's word", async () => {
  const opened = await openBank("by_likeness", {}, 5_000);
  const { pass, made, first, second, answerFirst } = opened;
  const outcome = await pass(second);
  expect(outcome).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  expect(outcome).not.toMatchObject({ because: expect.stringContaining("accepted") });
  answerFirst();
  await first;
  expect(made).toHaveLength(1);
});

test("who looks for its own key is not held up", async () => {
  const { pass, made, first, second, answerFirst } = await openBank("by_key");
  expect(await pass(second)).toMatchObject({ status: "committed", effectId: "payout-3" });
  answerFirst();
  expect(await first).toMatchObject({ status: "committed", effectId: "payout-1" });
  expect(made).toHaveLength(2);
});

test("in a store that may forget, a first look does not take it either", async () => {
  const store = (now: () => number) => memoryStore({ now });
  const opened = await openBank("by_likeness", { store }, 5_000);
  const { pass, made, pay, first, second, answerFirst } = opened;
  const untold = { status: "unknown", reason: "cannot_tell", recorded: false };
  expect(await pass(second)).toMatchObject(untold);
  answerFirst();
  expect(await first).toMatchObject({ status: "committed", effectId: "payout-1" });
  // Its own now, though the bank breaks the connection of the second request.
  expect(await pass(pay.outcome(ANA, { scope: "invoice-2" }))).toMatchObject({
    status: "committed",
    effectId: "payout-3",
  });
  expect(made).toHaveLength(2);
});
