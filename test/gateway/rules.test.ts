/** What a user says of tools as data: kinds, intents, keys, and readers that are other tools. */
import { describe, expect, test } from "vitest";
import { checkRules, type GatewayRule } from "../../src/gateway/guard/rules.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { newWorld, PATIENT, startHost, textIn, VERSIONS } from "./world.ts";

const newFolder = temporaryFolder();
const rulesFor = (note: GatewayRule) => ({ servers: { noting: { note } } });

describe.each(VERSIONS)("SDK %s", (version) => {
  test("a lost reply of a tool that can be read is found by another tool of the server", async () => {
    const world = newWorld(newFolder());
    const rules = rulesFor({
      kind: "write",
      readWith: { tool: "list_notes", items: "data", match: { reference: "$key" }, id: "id" },
    });
    const host = await startHost(world, { version, rules, patienceMs: 300 });
    const found = await host.call("note", { text: "a", hang: true });
    expect(found.isError).toBeFalsy();
    expect(textIn(found)).toContain("n0");
    // The answer came late, and was perhaps not received.
    const again = await host.call("note", { text: "a", hang: true });
    expect(textIn(again)).toBe(textIn(found));
    expect(world.effects()).toHaveLength(1);
  });

  test("what is absent after its time is made again, under the same key", async () => {
    const world = newWorld(newFolder());
    const rules = rulesFor({
      kind: "write",
      readWith: { tool: "list_notes", match: { reference: "nothing has this" } },
      commitsWithinMs: 1,
    });
    const host = await startHost(world, { version, rules });
    await host.call("note", { text: "a", fail: true });
    const keys = world.effects().map(({ key }) => key);
    expect(keys.length).toBeGreaterThan(1);
    expect(new Set(keys).size).toBe(1);
  });

  test("other words for the same intent are the same call", async () => {
    const world = newWorld(newFolder());
    const rules = rulesFor({ kind: "write", intent: ["text"] });
    const host = await startHost(world, { version, rules });
    await host.call("note", { text: "a", comment: "please" });
    await host.call("look");
    const again = await host.call("note", { text: "a", comment: "now" });
    expect(textIn(again)).toContain("Already done");
  });

  test("the key is in _meta and in the argument that takes it, and a model's word is none", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version });
    await host.call("keyed", { text: "a", idempotency_key: "made up" });
    const [effect] = world.effects();
    expect(effect?.args.idempotency_key).toBe(effect?.key);
    expect(effect?.key).toMatch(/^[\da-f-]{36}$/);
    await host.call("note", { text: "a", "Idempotency-Key": "made up" });
    expect(world.effects()[1]?.args).toEqual({ text: "a" });
  });

  test("a server that has the draft capability gets the key there, and a lost reply is sent again by it", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version, serverArgs: ["yes"], patienceMs: 200 });
    await host.call("note", { text: "a" });
    const [effect] = world.effects();
    expect(effect?.draft).toBe(effect?.key);
    host.call("note", { text: "b", hang: true }).catch(() => {});
    await expect.poll(() => world.effects().length, PATIENT).toBeGreaterThan(2);
    expect(
      new Set(
        world
          .effects()
          .slice(1)
          .map(({ key }) => key),
      ).size,
    ).toBe(1);
  });

  test("a call that runs as a task is answered with its handle, and a repeat gets the same one", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version: "v1" });
    const params = { name: "note", arguments: { text: version, task: true } };
    const first = await host.request("tools/call", params);
    const again = await host.request("tools/call", params);
    expect(first).toMatchObject({ result: { task: { taskId: "t1" } } });
    expect(again).toMatchObject({ result: { task: { taskId: "t1" } } });
    expect(world.effects()).toHaveLength(1);
    const { items } = await host.hf.operations.list();
    expect(items[0]?.effectId).toBe("task t1");
  });
});

test("a rule that is misspelt is refused", () => {
  const wrong = (rule: object) => () => checkRules({ servers: { s: { t: rule } } });
  expect(wrong({ kinds: "write" })).toThrow(/kinds/);
  expect(wrong({ kind: "writes" })).toThrow(/kind/);
  expect(wrong({ readWith: { tool: "list", match: {} } })).toThrow(/match/);
  expect(wrong({ intent: "text" })).toThrow(/list of texts/);
  expect(wrong({ kind: "write" })).not.toThrow();
});
