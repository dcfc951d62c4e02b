import { expect, test } from "vitest";
import { faults } from "../../src/testing/faulty-service.ts";
import { openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

test("a call that the ledger answers, or that goes on with what is open, reads no precondition anew", async () => {
  const { service, order, pass, client } = await openWorld();
  let reads = 0;
  const sent: unknown[] = [];
  const conditional = order("conditional", {
    attempts: 1,
    precondition: () => {
      reads += 1;
      return `"${reads - 1}"`;
    },
    run: (args, { precondition, signal }) => {
      sent.push(precondition);
      return client("conditional").create(args, { ifMatch: String(precondition), signal });
    },
  });
  service.plan(faults.resetBefore());
  expect(await pass(conditional.outcome(TEA, ONCE))).toMatchObject({ status: "unknown" });
  expect(await pass(conditional.outcome(TEA, ONCE))).toMatchObject({ status: "committed" });
  expect(await pass(conditional.outcome(TEA, ONCE))).toMatchObject({ replayed: true });
  expect([reads, sent]).toEqual([1, ['"0"', '"0"']]);
});
