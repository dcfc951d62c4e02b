import { describe, expect, test } from "vitest";
import { OutcomeUnknownError } from "../../src/errors.ts";
import { systemClock } from "../../src/lang/clock.ts";
import { type Fault, faults } from "../../src/testing/faulty-service.ts";
import { keysOf, openWorld, TEA } from "./world.ts";

/** A body that trickles takes real time. */
const trickling = () => openWorld({ service: { after: systemClock.after } });

const ONCE = { scope: "conversation-7/turn-3" };

/** Each commits and loses the reply, without a word that proves anything. */
const LOSSES: readonly (readonly [string, Fault])[] = [
  ["a reset", faults.commitThenReset()],
  ["a closed connection", faults.hangUp({ commit: true })],
  ["a 500", faults.status({ status: 500, commit: true })],
  ["a 502 of a gateway", faults.status({ status: 502, commit: true, body: "<h1>Bad</h1>" })],
  ["a 503", faults.status({ status: 503, commit: true })],
  ["a 504", faults.status({ status: 504, commit: true })],
  ["a 408", faults.status({ status: 408, commit: true })],
  ["a 425", faults.status({ status: 425, commit: true })],
  ["a body that breaks off", faults.truncatedBody()],
  ["a chunked body that breaks off", faults.truncatedBody({ framing: "chunked" })],
  ["a gzip body that breaks off", faults.truncatedBody({ framing: "gzip" })],
  ["a body that trickles and breaks off", faults.trickle()],
];

describe.each(LOSSES)("committed, and the reply is lost to %s", (_, fault) => {
  test("a readable tool finds its effect by reading, in the same call, and sends once", async () => {
    const { service, order, pass, heard } = await trickling();
    service.plan(fault);
    const outcome = await pass(order("readable").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1, replayed: false });
    expect(outcome).toMatchObject({ result: { id: service.effects[0]?.effectId } });
    expect(heard("outcome", "committed")).toMatchObject([{ via: "read" }]);
    expect(service.arrivals).toHaveLength(1);
    expect(service.effects).toHaveLength(1);
  });

  test("a keyed tool sends the same key again and gets the first result", async () => {
    const { service, order, pass } = await trickling();
    service.plan(fault);
    const outcome = await pass(order("keyed").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 2, licence: "keyed" });
    expect(outcome).toMatchObject({ result: { id: service.effects[0]?.effectId } });
    expect(keysOf(service)).toEqual([outcome.key, outcome.key]);
    expect(service.effects).toHaveLength(1);
  });

  test("a keyed and readable tool reads before it thinks of sending", async () => {
    const { service, order, pass } = await trickling();
    service.plan(fault);
    const outcome = await pass(order("keyed_readable").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
    expect(service.effects).toHaveLength(1);
  });

  test("a tool that is neither stays unknown, and a second call sends nothing", async () => {
    const { service, order, pass } = await trickling();
    service.plan(fault);
    const mail = order("neither");
    expect(await pass(mail.outcome(TEA, ONCE))).toMatchObject({ status: "unknown", attempts: 1 });
    const again = await pass(mail.outcome(TEA, ONCE));
    expect(again).toMatchObject({ status: "unknown", replayed: true, attempts: 1 });
    await expect(pass(mail(TEA, ONCE))).rejects.toBeInstanceOf(OutcomeUnknownError);
    expect(service.arrivals).toHaveLength(1);
    expect(service.effects).toHaveLength(1);
  });

  test("a conditional tool never writes twice, and without a reader does not call a 412 a no", async () => {
    const { service, order, pass } = await trickling();
    service.plan(fault);
    const outcome = await pass(order("conditional").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "rejected_in_doubt" });
    expect(service.arrivals).toHaveLength(2);
    expect(service.effects).toHaveLength(1);
  });
});

describe("reset, and the service never saw the request", () => {
  test("a readable tool without a window holds its fire: absent is no proof", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.resetBefore());
    const outcome = await pass(order("readable").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "absent_unproven", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
    expect(service.effects).toHaveLength(0);
  });

  test("a readable tool fires again under the absent licence once its window has passed", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.resetBefore());
    const ordering = order("readable", { commitsWithinMs: 5_000 }).outcome(TEA, ONCE);
    const outcome = await pass(ordering);
    expect(outcome).toMatchObject({ status: "committed", attempts: 2, licence: "absent" });
    expect(keysOf(service)).toEqual([outcome.key, outcome.key]);
    expect(service.effects).toHaveLength(1);
    const [first, second] = service.arrivals;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(5_000);
  });

  test("a keyed tool fires again with the same key", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.resetBefore());
    const outcome = await pass(order("keyed").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 2, licence: "keyed" });
    expect(keysOf(service)).toEqual([outcome.key, outcome.key]);
    expect(service.effects).toHaveLength(1);
  });

  test("a keyed and readable tool reads, and sends the same key at once", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.resetBefore());
    const outcome = await pass(order("keyed_readable").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 2, licence: "keyed" });
    expect(service.reads[0]?.seq).toBeLessThan(service.arrivals[1]?.seq ?? 0);
    expect(service.effects).toHaveLength(1);
  });

  test("a conditional tool sends the same precondition again", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.resetBefore());
    const outcome = await pass(order("conditional").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 2, licence: "keyed" });
    expect(service.effects).toHaveLength(1);
    expect(service.reads).toHaveLength(1);
  });

  test("a tool that is neither stays unknown: nobody can tell", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.resetBefore());
    const outcome = await pass(order("neither").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "lost_reply", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
  });

  test("attempts are bounded: three losses in a row end as unknown", async () => {
    const { service, order, pass } = await openWorld();
    service.always(faults.resetBefore());
    const outcome = await pass(order("keyed").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "attempts", attempts: 3 });
    expect(new Set(keysOf(service)).size).toBe(1);
    expect(service.arrivals).toHaveLength(3);
  });

  test("a later call goes on with the same key, and the operation is committed once", async () => {
    const { service, order, pass } = await openWorld();
    const keyed = order("keyed");
    service.always(faults.resetBefore());
    await pass(keyed.outcome(TEA, ONCE));
    service.always(undefined);
    const outcome = await pass(keyed.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 4, licence: "keyed" });
    expect(new Set(keysOf(service)).size).toBe(1);
    expect(service.effects).toHaveLength(1);
  });
});

describe("a conditional tool with a reader", () => {
  test("turns the 412 after a lost reply into its own commit", async () => {
    const { service, order, pass, client } = await openWorld();
    service.plan(faults.commitThenReset());
    const tool = order("conditional", {
      readState: async ({ keys, taken }) => {
        const [key = ""] = keys;
        const [found] = await client("conditional").find({ key });
        if (!found || (await taken(found.id))) return { reading: "absent" };
        return { reading: "committed", result: found, effectId: found.id };
      },
    });
    const outcome = await pass(tool.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.effects).toHaveLength(1);
  });

  test("a 412 at the first attempt is a no: nothing was in doubt", async () => {
    const { service, order, pass, client } = await openWorld();
    const conditional = order("conditional", {
      precondition: async () => {
        const version = await client("conditional").version();
        await client("conditional").create({ item: "by somebody else" }, { ifMatch: version });
        return version;
      },
    });
    const outcome = await pass(conditional.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({
      status: "not_applied",
      reason: "rejected",
      rejection: { status: 412 },
    });
    expect(service.effects).toHaveLength(1);
  });
});

describe("a result that is a Response", () => {
  test("is judged by its status, and a body that broke off was still committed", async () => {
    const { service, hf, pass, heard, track } = await openWorld();
    service.plan(faults.truncatedBody());
    const post = hf.tool({
      name: "post",
      kind: "write",
      run: (args: { item: string }, { signal }) =>
        track(
          fetch(`${service.url}/neither/effects`, {
            method: "POST",
            body: JSON.stringify(args),
            signal,
          }),
        ),
    });
    const outcome = await pass(post.outcome({ item: "tea" }, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1, resultLost: true });
    expect(heard("warning", "payload_lost")).toHaveLength(1);
    const again = await pass(post.outcome({ item: "tea" }, ONCE));
    expect(again).toMatchObject({ status: "committed", replayed: true, resultLost: true });
    expect(service.arrivals).toHaveLength(1);
  });

  test("is given back whole on replay, as a new Response each time", async () => {
    const { service, hf, pass, track } = await openWorld();
    const post = hf.tool({
      name: "post",
      kind: "write",
      run: (args: { item: string }) =>
        track(
          fetch(`${service.url}/neither/effects`, { method: "POST", body: JSON.stringify(args) }),
        ),
    });
    const first = await pass(post({ item: "tea" }, ONCE));
    const second = await pass(post({ item: "tea" }, ONCE));
    const third = await pass(post({ item: "tea" }, ONCE));
    const bodies = await Promise.all([first, second, third].map((one) => one.json()));
    expect(bodies[1]).toEqual(bodies[0]);
    expect(bodies[2]).toEqual(bodies[0]);
    expect(second.status).toBe(201);
    expect(second.headers.get("content-type")).toBe("application/json");
    expect(service.arrivals).toHaveLength(1);
  });

  test("a Response with a 500 proves nothing, one with a 404 is a no", async () => {
    const { service, hf, pass, track } = await openWorld();
    const post = hf.tool({
      name: "post",
      kind: "write",
      run: (args: { item: string }) =>
        track(
          fetch(`${service.url}/neither/effects`, { method: "POST", body: JSON.stringify(args) }),
        ),
    });
    service.plan(faults.status({ status: 500, commit: true }), faults.status({ status: 404 }));
    const lost = await pass(post.outcome({ item: "tea" }, ONCE));
    expect(lost).toMatchObject({ status: "unknown", reason: "unclear_answer" });
    const no = await pass(post.outcome({ item: "milk" }, ONCE));
    expect(no).toMatchObject({ status: "not_applied", rejection: { status: 404 } });
  });
});
