/** An answer with an error: the server's word that the call failed, and no proof that nothing was done. */
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { newWorld, startHost, textIn } from "./world.ts";

const newFolder = temporaryFolder();

/** The calls that stand, as the ledger has them. */
function rowsIn(ledger: string): string {
  const db = new DatabaseSync(ledger, { readOnly: true });
  const rows = JSON.stringify(db.prepare("SELECT text FROM lane").all());
  db.close();
  return rows;
}

/** `true`: an answer with `isError`; `"error"`: a JSON-RPC error. */
describe.each([true, "error"] as const)("fail: %s", (fail) => {
  test("the host hears the server's own words, and the same call again is made again", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { raw: true });
    const call = () =>
      host.request("tools/call", {
        name: "pay",
        arguments: { text: "a", fail },
      }) as Promise<object>;
    const first = await call();
    expect(JSON.stringify(first)).toContain(fail === true ? '"text":"no"' : '"message":"broken"');
    expect(JSON.stringify(first)).not.toContain("holdfire");
    await call();
    expect(world.effects()).toHaveLength(2);
    expect(new Set(world.effects().map(({ key }) => key)).size).toBe(2);
  });

  test("of a tool that writes, the ledger says that it is unknown and never that it was not done", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world);
    await host.call("pay", { text: "a", fail }).catch(() => {});
    await host.call("look");
    const { items } = await host.hf.operations.list();
    expect(items).toMatchObject([{ status: "unknown", reason: "unclear_answer" }]);
    // The model has changed its arguments: that is no other wording of something unknown.
    expect(textIn(await host.call("pay", { text: "a" }))).toBe("noted a, 3 in all");
  });

  test("of a tool that may be a read it leaves no record, once the host has the answer", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world);
    await host.call("note", { text: "a", fail }).catch(() => {});
    expect((await host.hf.operations.list()).items).toMatchObject([{ status: "unknown" }]);
    await host.call("look");
    await expect.poll(async () => (await host.hf.operations.list()).items).toEqual([]);
  });

  test("cancelled after all, it was not received: it is told once more, and not sent", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { raw: true });
    const params = { name: "note", arguments: { text: "a", fail } };
    const call = () => host.request("tools/call", params) as Promise<Record<string, unknown>>;
    const first = await call();
    await host.request("tools/list");
    await expect.poll(async () => (await host.hf.operations.list()).items).toEqual([]);
    const cancelled = { method: "notifications/cancelled", params: { requestId: first.id } };
    host.write(JSON.stringify({ jsonrpc: "2.0", ...cancelled }));
    expect(await call()).toEqual({ ...first, id: expect.anything() });
    expect(world.effects()).toHaveLength(1);
    await call();
    expect(world.effects()).toHaveLength(2);
  });

  test("cancelled after all, it is told once more by the next gateway, too, and not sent", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { raw: true });
    const params = { name: "note", arguments: { text: "a", fail } };
    const first = (await host.request("tools/call", params)) as Record<string, unknown>;
    await host.request("tools/list");
    await expect.poll(async () => (await host.hf.operations.list()).items).toEqual([]);
    const cancelled = { method: "notifications/cancelled", params: { requestId: first.id } };
    host.write(JSON.stringify({ jsonrpc: "2.0", ...cancelled }));
    await expect.poll(() => rowsIn(world.ledger)).toContain("forgotten");
    await host.die();
    const second = await startHost(world);
    const told = await second.call("note", { text: "a", fail });
    expect(textIn(told)).toContain("answered this call with an error");
    expect(world.effects()).toHaveLength(1);
    await second.call("note", { text: "a", fail }).catch(() => {});
    expect(world.effects()).toHaveLength(2);
  });

  test("an error that was not received is told by the next gateway, and then the call can be made again", async () => {
    const world = newWorld(newFolder());
    const first = await startHost(world);
    await first.call("pay", { text: "a", fail }).catch(() => {});
    await first.die();
    const second = await startHost(world);
    const told = await second.call("pay", { text: "a", fail });
    expect(told.isError).toBe(true);
    expect(textIn(told)).toContain("answered this call with an error");
    expect(world.effects()).toHaveLength(1);
    await second.call("pay", { text: "a", fail }).catch(() => {});
    expect(world.effects()).toHaveLength(2);
  });
});

test("a rule says what an error proves", async () => {
  const states = async (rule: object) => {
    const host = await startHost(newWorld(newFolder()), {
      rules: { pay: rule },
    });
    const told = await host.call("pay", { text: "a", fail: true });
    const { items } = await host.hf.operations.list();
    return [items[0]?.status, items[0]?.reason, textIn(told).startsWith("{")];
  };
  expect(await states({ isErrorMeans: "rejected" })).toEqual(["not_applied", "rejected", false]);
  // With a kind, the model is told what is known.
  expect(await states({ kind: "write" })).toEqual(["unknown", "unclear_answer", true]);
});
