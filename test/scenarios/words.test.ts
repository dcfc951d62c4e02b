/** What a model is told follows the facts: what was answered, what is known, who must act. */
import { describe, expect, test } from "vitest";
import { absent } from "../../src/engine/define/reading.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };
const PERSON = "It may have happened. Do not call again; a person must check.";
const CHECKED = "It may have happened. Do not call again; it is being checked.";
const OPEN = "It may have happened. Do not call again; it stays open until it is checked.";
const LOST = "The reply was lost.";

describe("a service that answered was heard", () => {
  test.each([409, 429, 500, 503])(
    "%d is told as the answer, not as a lost reply",
    async (status) => {
      const { service, hf, order, pass } = await openWorld();
      service.always(faults.status({ status }));
      const mail = order("neither");
      const outcome = await pass(mail.outcome(TEA, ONCE));
      const reason = "unclear_answer";
      expect(outcome).toMatchObject({ status: "unknown", reason, answered: status });
      // The first time, when it is replayed, and when its status is asked for.
      const again = await pass(mail.reply(TEA, ONCE));
      const asked = await pass(hf.statusTool().reply({ operation: outcome.id }, ONCE));
      const thrown = `The tool failed with Error: POST /neither/effects was answered with ${status}.`;
      const words = `The service answered ${status}. ${thrown} ${PERSON}`;
      expect([again.message, asked.message]).toEqual([words, words]);
      const error = await pass(mail(TEA, ONCE).catch((thrown: unknown) => thrown));
      expect(String(error)).toContain(`The service answered ${status}.`);
    },
  );

  test("402 is told, and no reply was lost", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.status({ status: 402 }));
    const { message } = await pass(order("neither").reply(TEA, ONCE));
    expect(message).toMatch(/^The service .*\b402\b/);
    expect(message).not.toContain("lost");
  });

  test("a refusal is told with its status", async () => {
    const { service, order, pass } = await openWorld();
    service.always(faults.status({ status: 503 }));
    const { message } = await pass(order("neither", { refuses: [503] }).reply(TEA, ONCE));
    expect(message).toBe("The service answered 503: not now. Nothing happened.");
  });
});

describe("a service that did not answer", () => {
  test("the reply is lost where a request left", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.commitThenReset());
    const { message } = await pass(order("neither").reply(TEA, ONCE));
    expect(message).toBe(`${LOST} ${PERSON}`);
    // A developer is told the rest.
    service.plan(faults.commitThenReset());
    const lost = await pass(order("neither")({ item: "salt" }, ONCE).catch(String));
    expect(lost).toContain("The attempt threw TypeError: fetch failed, code ECONNRESET.");
  });

  test("where none was seen, nothing is said of a reply: a bug is told as that bug", async () => {
    const { order, pass } = await openWorld();
    const run = () => Promise.reject(new ReferenceError("amount is not defined"));
    const { message } = await pass(order("neither", { run }).reply(TEA, ONCE));
    const bug = "The tool failed with ReferenceError: amount is not defined.";
    expect(message).toBe(`${bug} No HTTP request was seen to leave. ${PERSON}`);
  });
});

describe("it is being checked only where something checks", () => {
  const lost = async () => {
    const world = await openWorld();
    world.service.plan(faults.commitThenReset());
    return world;
  };
  const unsure = async () => {
    throw new Error("the list is down");
  };

  test("there is a reader, and this process runs reconcile with it", async () => {
    const { hf, order, pass } = await lost();
    const readable = order("readable", { readState: unsure });
    const { message } = await pass(readable.reply(TEA, ONCE));
    expect(message).toBe(`${LOST} ${OPEN}`);
    await pass(hf.reconcile());
    const again = await pass(readable.reply(TEA, ONCE));
    expect(again.message).toBe(`${LOST} ${CHECKED}`);
  });

  test("a reader that is known to be blind checks nothing", async () => {
    const { order, pass, clock, service } = await openWorld();
    const blind = order("readable", { commitsWithinMs: 1_000, readState: () => absent() });
    await pass(blind(TEA, ONCE));
    await clock.advance(1_000);
    service.plan(faults.commitThenReset());
    const { message } = await pass(blind.reply({ item: "milk" }, ONCE));
    expect(message).toBe(`${LOST} ${PERSON}`);
  });

  test("a key alone checks nothing", async () => {
    const { order, pass, service } = await openWorld();
    service.always(faults.status({ status: 500 }));
    const { message } = await pass(order("keyed").reply(TEA, ONCE));
    expect(message).toContain("a person must check");
  });
});

describe("a tool that is slower than the call waits", () => {
  test("is still running, as long as it does; the status tool says the same", async () => {
    const { hf, order, pass } = await openWorld();
    const run = () => new Promise<never>(() => {});
    const slow = order("neither", { run, attemptTimeoutMs: 30_000, deadlineMs: 20_000 });
    const reply = await pass(slow.reply(TEA, ONCE));
    const words = "It is still running and may still land.";
    expect(reply).toMatchObject({ outcome: "in_progress" });
    expect(reply.message).toContain(words);
    const asked = await pass(hf.statusTool().reply({ operation: reply.operation }, ONCE));
    expect(asked).toMatchObject({ outcome: "in_progress", data: { reason: "still_running" } });
    expect(asked.message).toContain(words);
  });
});
