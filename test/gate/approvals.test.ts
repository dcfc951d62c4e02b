import { beforeEach, describe, expect, test } from "vitest";
import { type BucketWorld, LOGS, ONCE, openBucket, waiting } from "./bucket.ts";

let world: BucketWorld;

beforeEach(() => {
  world = openBucket();
});

describe("the inbox", () => {
  test("lists what waits, a page at a time, and nothing else", async () => {
    const { clock, holdfire, drop } = world;
    const hf = holdfire();
    const tool = drop(hf);
    for (const bucket of ["a", "b", "c"]) await clock.run(tool.outcome({ bucket }, ONCE));
    await clock.run(drop(hf, { name: "write", kind: "write" }).outcome(LOGS, ONCE));
    const first = await hf.approvals.list({ limit: 2 });
    expect(first.items).toHaveLength(2);
    const second = await hf.approvals.list({ limit: 2, cursor: first.cursor ?? "" });
    expect(second.items).toHaveLength(1);
    expect(second.cursor).toBeUndefined();
  });

  test("an answered question still waits for its call, without what was shown", async () => {
    const { clock, holdfire, drop } = world;
    const hf = holdfire();
    const { id } = await clock.run(drop(hf).outcome(LOGS, ONCE));
    await hf.approvals.approve(id, { digest: (await waiting(hf)).digest, by: "ana" });
    expect(await waiting(hf)).toMatchObject({ answered: true, shown: undefined });
  });

  test("the question about one operation can be read by its id, and what has none is not there", async () => {
    const { clock, holdfire, drop } = world;
    const hf = holdfire();
    const { id } = await clock.run(drop(hf).outcome(LOGS, ONCE));
    const other = holdfire();
    expect(await other.approvals.get(id)).toEqual(await waiting(hf));
    expect(await hf.forTenant("other").approvals.get(id)).toBeUndefined();
    expect(await hf.approvals.get("none")).toBeUndefined();
    await hf.approvals.approve(id, { digest: (await waiting(hf)).digest, by: "ana" });
    await clock.run(drop(hf).outcome(LOGS, ONCE));
    expect(await hf.approvals.get(id)).toBeUndefined();
  });

  test("what was shown is sealed where payloads are", async () => {
    const { clock, holdfire, drop, store } = world;
    const keys = { k1: new Uint8Array(32).fill(7) };
    const hf = holdfire({ payloads: { encryption: { keyId: "k1", keys } } });
    const { id } = await clock.run(drop(hf).outcome({ bucket: "canary-4711" }, ONCE));
    const { stored } = await store.read("default", id);
    expect(JSON.stringify(stored)).not.toContain("canary-4711");
    expect(JSON.stringify(await waiting(hf))).toContain("canary-4711");
  });

  test("an answer needs a name, the right digest, and a question", async () => {
    const { clock, holdfire, drop, runs } = world;
    const hf = holdfire();
    const { id } = await clock.run(drop(hf).outcome(LOGS, ONCE));
    const { digest } = await waiting(hf);
    await expect(hf.approvals.approve(id, { digest, by: "" })).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_INVALID_INPUT",
    });
    await expect(hf.approvals.approve(id, { digest: "other", by: "ana" })).rejects.toThrow(
      "the question has changed",
    );
    await expect(hf.approvals.approve("none", { digest, by: "ana" })).rejects.toThrow("no such");
    await hf.approvals.approve(id, { digest, by: "ana" });
    await clock.run(drop(hf).outcome(LOGS, ONCE));
    await expect(hf.approvals.deny(id, { digest, by: "bob" })).rejects.toThrow(
      "has no open question",
    );
    expect(runs).toHaveLength(1);
  });

  test("a held operation is not for `resolve`", async () => {
    const { clock, holdfire, drop } = world;
    const hf = holdfire();
    const { id } = await clock.run(drop(hf).outcome(LOGS, ONCE));
    await expect(hf.operations.resolve(id, { as: "committed", by: "ana" })).rejects.toThrow(
      "approve or deny it instead",
    );
  });

  test("a held reply tells the model to wait for a person", async () => {
    const { clock, holdfire, drop } = world;
    const hf = holdfire();
    expect(await clock.run(drop(hf).reply(LOGS, ONCE))).toMatchObject({
      ok: false,
      outcome: "held",
      effect: "noop",
      message:
        "Nothing was sent yet: a person must approve it first. Do not call again until told.",
    });
    const { operation, digest } = await waiting(hf);
    await hf.approvals.deny(operation.id, { digest, by: "ana" });
    expect(await clock.run(drop(hf).reply(LOGS, ONCE))).toMatchObject({
      outcome: "denied",
      message: "A person said no. Nothing was sent. Do not call again.",
    });
  });
});
