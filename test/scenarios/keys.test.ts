import { describe, expect, test } from "vitest";
import { notApplied } from "../../src/index.ts";
import { faults, readFaults } from "../../src/testing/faulty-service.ts";
import { DAY_MS, keysOf, lookUp, openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

describe("the options of a call", () => {
  test("are what they were when it was made, also where the object is used again for the next call", async () => {
    const { order, pass, hf } = await openWorld();
    const mail = order("keyed");
    const aliases: string[] = [];
    const options = { scope: "", aliases };
    const calls = ["a", "b", "c"].map((scope) => {
      options.scope = scope;
      aliases[0] = `alias-${scope}`;
      return mail.outcome(TEA, options);
    });
    const outcomes = await pass(Promise.all(calls));
    expect(new Set(outcomes.map(({ id }) => id)).size).toBe(3);
    const { items } = await hf.operations.list();
    expect(items.map(({ scope, aliases: own }) => [scope, ...own])).toEqual([
      ["a", "alias-a"],
      ["b", "alias-b"],
      ["c", "alias-c"],
    ]);
  });

  test("count also where they are inherited, for each way to call", async () => {
    class Reminder {
      #nth: number;
      constructor(nth: number) {
        this.#nth = nth;
      }
      get scope() {
        return `job-${this.#nth}`;
      }
      get again() {
        return `reminder ${this.#nth}`;
      }
    }
    const { service, order, pass, hf } = await openWorld();
    const mail = order("keyed");
    const calls = await hf.scope("turn", () =>
      Promise.all([
        pass(mail(TEA, new Reminder(1))),
        pass(mail.outcome(TEA, new Reminder(2))),
        pass(mail.reply(TEA, new Reminder(3))),
      ]),
    );
    expect(calls).toHaveLength(3);
    const { items } = await hf.operations.list();
    expect(items.map(({ scope }) => scope)).toEqual(["job-1", "job-2", "job-3"]);
    expect(service.arrivals).toHaveLength(3);
  });

  test("are not the record's own: what a view shows can be changed without changing the ledger", async () => {
    const { order, pass, hf } = await openWorld();
    const { id } = await pass(order("keyed").outcome(TEA, { ...ONCE, aliases: ["one"] }));
    const { aliases = [] } = (await hf.operations.get(id)) ?? {};
    expect(() => (aliases as string[]).push("two")).toThrow(TypeError);
    expect((await hf.operations.get(id))?.aliases).toEqual(["one"]);
  });

  test("are read once each", async () => {
    const { order, pass, hf } = await openWorld();
    const reads = { scope: 0, step: 0, deadlineMs: 0 };
    const options = {
      get scope() {
        reads.scope += 1;
        return `scope-${reads.scope}`;
      },
      get step() {
        reads.step += 1;
        return `step-${reads.step}`;
      },
      get deadlineMs() {
        reads.deadlineMs += 1;
        return 60_000;
      },
    };
    await pass(order("keyed").outcome(TEA, options));
    expect(reads).toEqual({ scope: 1, step: 1, deadlineMs: 1 });
    expect((await hf.operations.list()).items).toMatchObject([{ scope: "scope-1" }]);
  });
});

describe("the key's window (keyed)", () => {
  test("past it a keyed tool is not sent again", async () => {
    const { service, order, pass, clock } = await openWorld({ service: { keyMemoryMs: 60_000 } });
    service.plan(faults.commitThenReset());
    const keyed = order("keyed", { keyed: { forMs: 60_000 }, attempts: 1 });
    expect(await pass(keyed.outcome(TEA, ONCE))).toMatchObject({ status: "unknown" });
    await clock.advance(60_000);
    const late = await pass(keyed.outcome(TEA, ONCE));
    expect(late).toMatchObject({ status: "unknown", reason: "key_expired", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
    expect(service.effects).toHaveLength(1);
  });

  test("it ends early: less 5 % and one attempt", async () => {
    const { service, order, pass, clock } = await openWorld();
    service.plan(faults.resetBefore(), faults.resetBefore());
    const keyed = order("keyed", { keyed: { forMs: 100_000 }, attempts: 1 });
    await pass(keyed.outcome(TEA, ONCE));
    await clock.advance(84_000 - clock.monotonic());
    await pass(keyed.outcome(TEA, ONCE));
    expect(service.arrivals).toHaveLength(2);
    await clock.advance(1_001);
    const past = await pass(keyed.outcome(TEA, ONCE));
    expect(past).toMatchObject({ status: "unknown", reason: "key_expired" });
    expect(service.arrivals).toHaveLength(2);
  });

  test("it counts from the first send, not from the last", async () => {
    const { service, order, pass, clock } = await openWorld();
    service.always(faults.resetBefore());
    const keyed = order("keyed", { keyed: { forMs: 200_000 }, attempts: 1 });
    await pass(keyed.outcome(TEA, ONCE));
    await clock.advance(170_000);
    await pass(keyed.outcome(TEA, ONCE));
    await clock.advance(20_000);
    const past = await pass(keyed.outcome(TEA, ONCE));
    expect(past).toMatchObject({ status: "unknown", reason: "key_expired", attempts: 2 });
    expect(service.arrivals).toHaveLength(2);
  });

  test("it counts from the first send also after more attempts than a record keeps", async () => {
    const { service, order, pass, clock, another } = await openWorld();
    service.always(faults.resetBefore());
    // Each time in a new process, whose retry budget is full.
    const call = () => pass(order("keyed", { attempts: 1 }, another()).outcome(TEA, ONCE));
    // Every half hour for 20 of its 24 hours. The record keeps 32 attempts: the oldest have become one.
    for (let sent = 1; sent <= 40; sent += 1) {
      await call();
      expect(service.arrivals).toHaveLength(sent);
      await clock.advance(1_800_000);
    }
    await clock.advance(DAY_MS - clock.monotonic());
    const past = await call();
    expect(past).toMatchObject({ status: "unknown", reason: "key_expired", attempts: 40 });
    expect(service.arrivals).toHaveLength(40);
  });

  test("past it a reader still reads", async () => {
    const { service, order, pass, clock } = await openWorld();
    service.plan(faults.commitThenReset());
    service.alwaysRead(readFaults.status());
    const both = order("keyed_readable", { keyed: { forMs: 60_000 }, attempts: 1 });
    expect(await pass(both.outcome(TEA, ONCE))).toMatchObject({ status: "unknown" });
    await clock.advance(120_000);
    service.alwaysRead(undefined);
    expect(await pass(both.outcome(TEA, ONCE))).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
  });

  test("a window shorter than one attempt is none", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.commitThenReset());
    const outcome = await pass(order("keyed", { keyed: { forMs: 50 } }).outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "key_expired", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("a key that the service answers with the same failure again", () => {
  test("is spent: it is not sent a third time", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.storedFailure());
    const outcome = await pass(order("keyed", { attempts: 5 }).outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "key_spent", attempts: 2 });
    expect(service.arrivals).toHaveLength(2);
    expect(service.effects).toHaveLength(0);
  });

  test("a passing 503 does not spend it", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.status({ status: 503 }), faults.status({ status: 503 }));
    const outcome = await pass(order("keyed").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 3 });
    expect(new Set(keysOf(service)).size).toBe(1);
    expect(service.effects).toHaveLength(1);
  });

  test("absent after an answer is not resent under the keyed licence: the key would answer the same", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.storedFailure());
    const outcome = await pass(order("keyed_readable").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "absent_unproven", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("a key must be earned", () => {
  test("a run that never takes the key is not sent again", async () => {
    const { service, order, pass, client } = await openWorld();
    service.plan(faults.commitThenReset());
    const keyed = order("keyed", { run: (args) => client("keyed").create(args) });
    const outcome = await pass(keyed.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
  });

  test("a success without the key raises key-unused once, and the tool has no keyed licence from then on", async () => {
    const { service, order, pass, client, heard } = await openWorld();
    const keyed = order("keyed", { run: (args) => client("keyed").create(args) });
    await pass(keyed.outcome(TEA, ONCE));
    await pass(keyed.outcome({ item: "milk" }, ONCE));
    expect(heard("warning", "key_unused")).toHaveLength(1);
    service.plan(faults.commitThenReset());
    const outcome = await pass(keyed.outcome({ item: "bread" }, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "key_unused" });
    expect(outcome).toMatchObject({ hint: expect.stringContaining("Send the key") });
  });

  test("a conditional run that never takes its precondition is not sent again", async () => {
    const { service, order, pass, client } = await openWorld();
    service.plan(faults.resetBefore());
    const conditional = order("conditional", {
      run: (args) => client("conditional").create(args, { ifMatch: '"0"' }),
    });
    const outcome = await pass(conditional.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
  });

  test("the precondition is fixed before the first attempt, and read once", async () => {
    const { service, order, pass, client } = await openWorld();
    service.plan(faults.resetBefore(), faults.resetBefore());
    const sent: unknown[] = [];
    const conditional = order("conditional", {
      run: (args, { precondition, signal }) => {
        sent.push(precondition);
        return client("conditional").create(args, { ifMatch: String(precondition), signal });
      },
    });
    await pass(conditional.outcome(TEA, ONCE));
    expect(sent).toEqual(['"0"', '"0"', '"0"']);
    expect(service.reads).toHaveLength(1);
  });
});

test("the precondition of what is only replayed is not read", async () => {
  const { order, pass } = await openWorld();
  let reads = 0;
  const declined = order("conditional", {
    precondition: () => {
      reads += 1;
      return '"0"';
    },
    run: () => {
      throw notApplied("declined");
    },
  });
  await pass(declined.outcome(TEA, ONCE));
  expect(await pass(declined.outcome(TEA, ONCE))).toMatchObject({ reason: "rejected" });
  expect(reads).toBe(1);
});

describe("the generation of a key", () => {
  test("moves on when a keyed service itself rejected the key, and a reader gets all keys", async () => {
    const { service, order, pass, client } = await openWorld();
    const asked: (readonly string[])[] = [];
    const both = order("keyed_readable", {
      readState: (query) => {
        asked.push(query.keys);
        return lookUp(client("keyed_readable"))(query);
      },
    });
    service.plan(faults.storedFailure({ status: 404 }));
    const first = await pass(both.outcome(TEA, ONCE));
    expect(first).toMatchObject({ status: "not_applied", reason: "rejected" });
    service.plan(faults.commitThenReset());
    const second = await pass(both.outcome(TEA, { ...ONCE, retry: "the card was topped up" }));
    expect(second).toMatchObject({ status: "committed", attempts: 2 });
    expect(second.key).not.toBe(first.key);
    expect(second.id).toBe(first.id);
    expect(keysOf(service)).toEqual([first.key, second.key]);
    expect(asked[0]).toEqual([first.key, second.key]);
  });

  test("stays when a service without keys rejected it", async () => {
    const { service, order, pass } = await openWorld();
    const readable = order("readable");
    service.plan(faults.status({ status: 404 }));
    const first = await pass(readable.outcome(TEA, ONCE));
    const second = await pass(readable.outcome(TEA, { ...ONCE, retry: "it is there now" }));
    expect(second).toMatchObject({ status: "committed", attempts: 2, licence: "refused" });
    expect(keysOf(service)).toEqual([first.key, first.key]);
  });

  test("stays after refusals, connection failures and a person's word", async () => {
    const { service, order, pass, clock, hf } = await openWorld();
    service.plan(faults.status({ status: 429 }));
    const keyed = order("keyed", { refuses: [429], attempts: 1 });
    const first = await pass(keyed.outcome(TEA, ONCE));
    expect(first).toMatchObject({ status: "not_applied", reason: "refused" });
    await clock.advance(30_000);
    service.plan(faults.resetBefore());
    const second = await pass(keyed.outcome(TEA, ONCE));
    expect(second).toMatchObject({ status: "unknown", licence: "refused" });
    await hf.operations.resolve(second.id, { as: "not_applied", by: "ana" });
    const third = await pass(keyed.outcome(TEA, ONCE));
    expect(third).toMatchObject({ status: "committed", licence: "person", attempts: 3 });
    expect(new Set(keysOf(service))).toEqual(new Set([first.key]));
  });
});

describe("the key", () => {
  test("is a UUID of version 8, the same in every process on one intent and scope", async () => {
    const { order, pass, another } = await openWorld();
    const first = await pass(order("keyed").outcome(TEA, ONCE));
    const other = order("keyed", {}, another());
    const second = await pass(other.outcome({ note: "other words", ...TEA }, ONCE));
    expect(first.key).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(second.key).toBe(first.key);
    expect(second).toMatchObject({ replayed: true });
  });

  test("differs by scope, tool, intent, tenant and again", async () => {
    const { order, pass, hf } = await openWorld();
    const keyed = order("keyed");
    const calls = [
      keyed.outcome(TEA, ONCE),
      keyed.outcome(TEA, { scope: "s2" }),
      keyed.outcome({ item: "milk" }, ONCE),
      keyed.outcome(TEA, { ...ONCE, again: "second reminder" }),
      order("readable").outcome(TEA, ONCE),
      order("keyed", {}, hf.forTenant("other")).outcome(TEA, ONCE),
    ];
    const outcomes = await pass(Promise.all(calls));
    expect(new Set(outcomes.map(({ key }) => key)).size).toBe(calls.length);
  });
});
