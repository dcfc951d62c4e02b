/** A person says what became of a call in a thread: what the next turns are told of it, and what they fire. */
import { expect, test } from "vitest";
import { faults } from "../../src/testing/faulty-service.ts";
import { keysOf, openWorld, TEA } from "./world.ts";

/** A call of turn 1 whose reply was lost, and of which a person says this. */
async function resolved(as: "committed" | "not_applied") {
  const world = await openWorld();
  const { service, hf, order, pass } = world;
  service.plan(faults.resetBefore());
  const tea = order("neither");
  const say = (turn: string) => pass(hf.scope({ thread: "chat", turn }, () => tea.outcome(TEA)));
  const first = await say("1");
  expect(first.status).toBe("unknown");
  await hf.operations.resolve(first.id, { as, by: "ana", anyway: true });
  return { ...world, say, first };
}

test("it did not happen: the next turn fires the same operation, since nobody was told", async () => {
  const { service, say, first } = await resolved("not_applied");
  expect(await say("2")).toMatchObject({ status: "committed", id: first.id, attempts: 2 });
  expect(service.arrivals).toHaveLength(2);
  expect(service.effects).toHaveLength(1);
});

test("it happened: the next turn is told so, and fires nothing", async () => {
  const { service, say, first } = await resolved("committed");
  expect(await say("2")).toMatchObject({ status: "committed", id: first.id, replayed: true });
  expect(service.arrivals).toHaveLength(1);
});

test("a turn that was told that it did not happen is told so again; another turn is another wish", async () => {
  const { service, say, first } = await resolved("not_applied");
  service.plan(faults.status({ status: 422 }));
  const second = await say("2");
  expect(second).toMatchObject({ status: "not_applied", reason: "rejected", id: first.id });
  expect(await say("2")).toMatchObject({ status: "not_applied", id: first.id, replayed: true });
  expect(service.arrivals).toHaveLength(2);
  const third = await say("3");
  expect(third).toMatchObject({ status: "committed", attempts: 1 });
  expect(third.id).not.toBe(first.id);
  expect(new Set(keysOf(service)).size).toBe(2);
});
