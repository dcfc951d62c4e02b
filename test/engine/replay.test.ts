import { beforeEach, describe, expect, test } from "vitest";
import { absent, committed, duplicated } from "../../src/engine/define/reading.ts";
import { hintFor } from "../../src/engine/outcome/hints.ts";
import { replay } from "../../src/engine/outcome/replay.ts";
import { rewordedFields } from "../../src/key/mint.ts";
import type { OperationRecord, State, Stored } from "../../src/ledger/record.ts";
import { askOf, recordOf } from "../../src/testing/record-of.ts";
import { engineOf, operationOf, type TestEngine } from "./engine-of.ts";

let engine: TestEngine;

beforeEach(async () => {
  engine = engineOf();
  await engine.ledger.open();
});

/** What a call is told of a record in this state. */
async function told(state: State, definition: object = {}, rest: Partial<OperationRecord> = {}) {
  const operation = operationOf(engine, definition);
  const { id, tenant, fingerprint } = operation.draft.identity;
  const { fields, argsHash } = operation.draft;
  const record = recordOf({ id, tenant, fingerprint, fields, argsHash, state, ...rest });
  const stored: Stored = { record, version: 1, leaseUntil: undefined };
  return replay(operation, stored, engine);
}

const payload = { form: "json", text: '{"id":"re_1"}' } as const;

describe("what a record tells", () => {
  test("committed: the first result, and that nothing changed now", async () => {
    const outcome = await told(
      { tag: "committed", via: "reply", effect: "created", effectId: "re_1", payload },
      {},
      { stateAt: 123 },
    );
    expect(outcome).toMatchObject({
      status: "committed",
      result: { id: "re_1" },
      effect: "noop",
      effectId: "re_1",
      replayed: true,
      recorded: true,
      attempts: 1,
      licence: "first",
      at: 123,
    });
  });

  test("committed, with a result that was undefined", async () => {
    const outcome = await told({
      tag: "committed",
      via: "reply",
      payload: { form: "undefined", text: "" },
    });
    expect(outcome).toMatchObject({ status: "committed", result: undefined });
    expect(outcome).not.toHaveProperty("resultLost");
  });

  test("committed, with a Response: a new one", async () => {
    const kept = { status: 201, contentType: "text/plain", body: "made", encoding: "utf8" };
    const outcome = await told({
      tag: "committed",
      via: "reply",
      payload: { form: "response", text: JSON.stringify(kept) },
    });
    const { result } = outcome as unknown as { result: Response };
    expect(result.status).toBe(201);
    expect(await result.text()).toBe("made");
  });

  test("`revive` restores richer types, of a stored result only", async () => {
    const state: State = { tag: "committed", via: "reply", payload };
    const revive = ({ id }: { id: string }) => new Map([["id", id]]);
    expect(await told(state, { revive })).toMatchObject({ result: new Map([["id", "re_1"]]) });
  });

  test.each<readonly [string, State]>([
    ["no payload", { tag: "committed", via: "person", by: "ana" }],
    ["a damaged payload", { tag: "committed", via: "reply", payload: { form: "json", text: "{" } }],
    [
      "a payload sealed with a key nobody has",
      { tag: "committed", via: "reply", payload: { ...payload, sealedWith: "gone" } },
    ],
  ])("%s: the result is lost, or read again", async (_, state) => {
    expect(await told(state)).toMatchObject({ status: "committed", resultLost: true });
    const found = { readState: () => committed({ id: "again" }) };
    expect(await told(state, found)).toMatchObject({ result: { id: "again" } });
    const twice = { readState: () => duplicated([{ id: "one" }, { id: "two" }]) };
    expect(await told(state, twice)).toMatchObject({ result: { id: "one" } });
    const gone = { readState: () => absent() };
    expect(await told(state, gone)).toMatchObject({ status: "committed", resultLost: true });
  });

  test.each<readonly [State, object]>([
    [
      { tag: "not_applied", reason: "rejected", rejection: { status: 404 } },
      { status: "not_applied", reason: "rejected", rejection: { status: 404 } },
    ],
    [
      { tag: "unknown", reason: "lost_reply" },
      { status: "unknown", reason: "lost_reply", hint: expect.stringContaining("readState") },
    ],
    [
      { tag: "denied", by: "ana" },
      { status: "denied", by: "ana" },
    ],
    [
      { tag: "held", ask: askOf({ why: "drift" }) },
      { status: "held", reason: "drift" },
    ],
    [{ tag: "claimed", holder: "other" }, { status: "in_progress" }],
  ])("%j", async (state, expected) => {
    expect(await told(state)).toMatchObject({ ...expected, replayed: true });
  });

  test("no record: in progress, and nothing replayed", async () => {
    const outcome = await replay(operationOf(engine), undefined, engine);
    expect(outcome).toMatchObject({ status: "in_progress", replayed: false, attempts: 0 });
  });

  test("other words are named", async () => {
    const fields = { item: "other-hash", gone: "hash" };
    const outcome = await told({ tag: "denied", by: "ana" }, {}, { fields, argsHash: "other" });
    const now = operationOf(engine).draft.fields;
    expect(outcome.reworded).toEqual(rewordedFields(fields, now));
    expect(outcome.reworded).toEqual(["gone", "item"]);
  });

  test("the key is that of the latest generation", async () => {
    const first = await told({ tag: "denied", by: "ana" });
    const second = await told({ tag: "denied", by: "ana" }, {}, { generation: 1 });
    expect(second.key).not.toBe(first.key);
  });
});

describe("a hint says what would let holdfire decide next time", () => {
  test.each([
    ["lost_reply", "keyed"],
    ["absent_unproven", "commitsWithinMs"],
    ["key_unused", "Send the key"],
    ["reader_blind", "fix readState"],
    ["deadline", "hf.operations"],
  ] as const)("%s: %s", (reason, words) => {
    expect(hintFor(recordOf(), reason)).toContain(words);
  });

  test.each([429, 503])("after a %i: how to declare that it does nothing", (status) => {
    const attempts = [{ n: 1, epoch: 1, generation: 0, licence: "first", at: 0, status } as const];
    const hint = hintFor(recordOf({ attempts }), "lost_reply");
    expect(hint).toContain(`refuses: [${status}]`);
  });
});
