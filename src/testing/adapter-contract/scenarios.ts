/**
 * What every adapter must do, as data: each scenario fails by rejecting.
 *
 * @module
 */

import assert from "node:assert/strict";
import { faults, readFaults } from "../faulty-service/faults.ts";
import type { AdapterCapabilities, AdapterContractOptions } from "./drive.ts";
import { type Envelope, onStage, STATES, type Stage, soon, until } from "./stage.ts";

export interface AdapterScenario {
  /** A sentence of the specification. */
  readonly name: string;
  /** Left out for a framework that cannot do this. */
  readonly needs?: keyof AdapterCapabilities | undefined;
  /** Rejects if the adapter does otherwise. */
  readonly run: (adapter: AdapterContractOptions) => Promise<void>;
}

const scenario = (
  name: string,
  play: (stage: Stage) => Promise<void>,
  needs?: keyof AdapterCapabilities,
): AdapterScenario => ({ name, needs, run: (adapter) => onStage(adapter, play) });

const ANOTHER_CALL = { toolCallId: "toolu_9z8y7x6w5v4u3t2s1r0q" };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const adapterScenarios: readonly AdapterScenario[] = Object.freeze([
  scenario("answered: the model reads that it is done, with the data", async (stage) => {
    const { call } = stage.start();
    const { ok, outcome, effect, replayed, data } = await call();
    const [made] = stage.service.effects;
    assert.deepEqual(
      { ok, outcome, effect, replayed, id: data?.id },
      { ok: true, outcome: "committed", effect: "created", replayed: false, id: made?.effectId },
    );
    assert.deepEqual(made?.intent, { paymentId: "p1", amount: 400 });
    stage.expectCounts(1, 1);
  }),

  scenario("refused: the model reads that nothing happened, and it stays so", async (stage) => {
    const { call } = stage.start();
    stage.service.plan(faults.status({ status: 403 }));
    const refused = await call();
    assertNot(refused, "not_applied");
    assert.equal(refused.effect, "noop");
    assertNot(await call(ANOTHER_CALL), "not_applied");
    stage.expectCounts(1, 0);
  }),

  scenario("no answer: what a lost reply left behind is found, not made again", async (stage) => {
    const { call } = stage.start({ keyed: false });
    stage.service.plan(faults.commitThenReset());
    assertDone(await call(), stage);
    stage.expectCounts(1, 1);
  }),

  scenario("same key on every attempt, and never one that the model wrote", async (stage) => {
    const { call } = stage.start({ readable: false });
    stage.service.plan(faults.status({ status: 503 }), faults.resetBefore());
    assertDone(await call(), stage);
    stage.expectCounts(3, 1);
    const keys = new Set(stage.service.arrivals.map(({ key }) => key));
    assert.equal(keys.size, 1, "keys that arrived");
    assert.match([...keys].join(), UUID);
  }),

  scenario("tool-call id changed: it is the same operation", async (stage) => {
    const { call } = stage.start();
    const first = await call();
    assertReplay(await call(ANOTHER_CALL), first);
    stage.expectCounts(1, 1);
  }),

  scenario("the tool-call id is kept beside the operation", async (stage) => {
    const { call, hf } = stage.start();
    await call(ANOTHER_CALL);
    const { items } = await hf.operations.list();
    assert.equal(items.length, 1, "operations");
    assert.ok(items[0]?.aliases.includes(ANOTHER_CALL.toolCallId), "its id is an alias");
  }),

  scenario("arguments reordered or reworded: it is the same operation", async (stage) => {
    const { call } = stage.start();
    const first = await call();
    const reordered = '{ "amount": 400.0, "note": "once more", "paymentId": "p1" }';
    assertReplay(await call({ ...ANOTHER_CALL, args: reordered }), first);
    stage.expectCounts(1, 1);
  }),

  scenario("another intent, or another scope, is another operation", async (stage) => {
    const { call } = stage.start();
    await call();
    assertDone(await call({ args: '{"paymentId":"p2","amount":400}' }), stage);
    assertDone(await call({ ...ANOTHER_CALL, scope: "conversation-7/turn-4" }), stage);
    stage.expectCounts(3, 3);
  }),

  scenario(
    "abort before the send: nothing arrives, and the next call is the first",
    async (stage) => {
      const { call } = stage.start();
      const stopped = await settled(call({ signal: AbortSignal.abort() }));
      if (stopped) assertNot(stopped, "not_applied");
      stage.expectCounts(0, 0);
      assertDone(await call(ANOTHER_CALL), stage);
      stage.expectCounts(1, 1);
    },
    "abort",
  ),

  scenario(
    "abort after the send: it may have happened, and is read",
    async (stage) => {
      const { call } = stage.start({ keyed: false });
      stage.service.plan(faults.blackHole({ commit: true }));
      const stop = new AbortController();
      const stopped = settled(call({ signal: stop.signal }));
      await until(() => stage.service.effects.length === 1, "the request has arrived");
      stop.abort();
      const envelope = await soon(stopped, "the stopped call returned");
      assert.notEqual(envelope?.outcome, "not_applied", "an abort is not a cancellation");
      const { outcome } = await soon(call(ANOTHER_CALL), "it was read");
      assert.equal(outcome, "committed");
      stage.expectCounts(1, 1);
    },
    "abort",
  ),

  scenario("replay: the very same call again is answered from the record", async (stage) => {
    const { call } = stage.start();
    const first = await call();
    assertReplay(await call(), first);
    const again = await call();
    assertReplay(again, first);
    assert.match(again.message, /a person must ask for it in a new message/);
    stage.expectCounts(1, 1);
  }),

  scenario(
    "a read is made each time: a model that polls sees queued, then done",
    async (stage) => {
      const { call, hf } = stage.start({ polls: true });
      const seen = [await call(), await call(), await call(ANOTHER_CALL)];
      assert.deepEqual(
        seen.map(({ ok, replayed, data }) => ({ ok, replayed, state: data?.id })),
        STATES.map((state) => ({ ok: true, replayed: false, state })),
      );
      assert.equal((await hf.operations.list()).items.length, 0, "operations");
    },
    "reads",
  ),

  scenario(
    "unknown: the model is told not to call again, and calling does not fire",
    async (stage) => {
      const { call } = stage.start({ keyed: false, readable: false });
      stage.service.plan(faults.commitThenReset());
      const unknown = await call();
      assertNot(unknown, "unknown");
      assert.match(unknown.message, /do not call again/i);
      assertNot(await call(ANOTHER_CALL), "unknown");
      stage.expectCounts(1, 1);
    },
  ),

  scenario("parallel identical calls: one fires, and each is told", async (stage) => {
    const { call } = stage.start();
    const calls = [call(), call(ANOTHER_CALL), call({ toolCallId: "chatcmpl-0123456789abcdef" })];
    const told = await Promise.all(calls);
    for (const envelope of told) assert.equal(envelope.outcome, "committed");
    assert.equal(new Set(told.map(({ data }) => data?.id)).size, 1, "results");
    assert.equal(told.filter(({ replayed }) => !replayed).length, 1, "those that fired");
    stage.expectCounts(1, 1);
  }),

  scenario("process restart: the record answers", async (stage) => {
    const first = await stage.start().call();
    assertReplay(await stage.start().call(ANOTHER_CALL), first);
    stage.expectCounts(1, 1);
  }),

  scenario("process restart: what was left unknown is read, not fired", async (stage) => {
    stage.service.plan(faults.commitThenReset());
    stage.service.alwaysRead(readFaults.status());
    assertNot(await stage.start({ keyed: false }).call(), "unknown");
    stage.service.alwaysRead(undefined);
    const { outcome, data } = await stage.start({ keyed: false }).call(ANOTHER_CALL);
    assert.equal(outcome, "committed");
    assert.equal(data?.id, stage.service.effects[0]?.effectId);
    stage.expectCounts(1, 1);
  }),

  scenario(
    "SDK retries are off: a failing call arrives as often as holdfire fired it",
    async (stage) => {
      stage.service.always(faults.status({ status: 503 }));
      const { call, hf } = stage.start({ readable: false });
      assertNot(await call(), "unknown");
      const { items } = await hf.operations.list();
      assert.equal(items.length, 1, "operations");
      assert.equal(items[0]?.attempts.length, 3, "attempts in the ledger");
      stage.expectCounts(3, 0);
    },
  ),
]);

function assertDone({ ok, outcome, data }: Envelope, { service }: Stage): void {
  assert.deepEqual({ ok, outcome }, { ok: true, outcome: "committed" });
  assert.equal(data?.id, service.effects.at(-1)?.effectId, "the data is the effect's");
}

function assertNot({ ok, outcome, data }: Envelope, as: Envelope["outcome"]): void {
  assert.deepEqual({ ok, outcome, data }, { ok: false, outcome: as, data: undefined });
}

function assertReplay({ ok, outcome, effect, replayed, data }: Envelope, first: Envelope): void {
  assert.deepEqual(
    { ok, outcome, effect, replayed, data },
    { ok: true, outcome: "committed", effect: "noop", replayed: true, data: first.data },
  );
}

/** A framework may throw when it is stopped; then there is nothing that the model reads. */
async function settled(call: Promise<Envelope>): Promise<Envelope | undefined> {
  return call.catch(() => undefined);
}
