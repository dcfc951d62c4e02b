/** What a user says of tools as data: kinds, intents, keys, and readers that are other tools. */
import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { checkRules, type GatewayRule } from "../../src/gateway/guard/rules.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { newWorld, PATIENT, type Result, startHost, textIn, VERSIONS } from "./world.ts";

const newFolder = temporaryFolder();
const rulesFor = (note: GatewayRule) => ({ note });

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

  test("what is too long to be kept cannot be compared: not found is not absent", async () => {
    const world = newWorld(newFolder());
    const rules = rulesFor({
      kind: "write",
      readWith: { tool: "list_notes", items: "data", match: { "given.text": "$intent.text" } },
      commitsWithinMs: 1,
    });
    const host = await startHost(world, { version, rules });
    const told = await host.call("note", { text: "x".repeat(200_000), fail: true });
    expect(JSON.parse(textIn(told))).toMatchObject({ outcome: "unknown" });
    expect(world.effects()).toHaveLength(1);
  });

  test("an unknown with a record names the command that shows it; one without a record names none", async () => {
    const world = newWorld(newFolder());
    const rules = rulesFor({
      kind: "write",
      readWith: { tool: "list_notes", match: { reference: "$key" }, when: { text: "other" } },
    });
    const host = await startHost(world, { version, rules });
    const lost = JSON.parse(textIn(await host.call("note", { text: "a", fail: true })));
    expect(lost).toMatchObject({ outcome: "unknown" });
    expect(lost.message).toContain(`npx holdfire show ${lost.operation} --store ${world.ledger}`);
    // A ledger that may have forgotten an earlier call, and a reader that cannot tell of it: nothing is sent.
    const forgetful = await startHost(world, { version, rules, store: memoryStore() });
    const unsent = JSON.parse(textIn(await forgetful.call("note", { text: "b" })));
    expect(unsent).toMatchObject({ outcome: "unknown" });
    expect(await forgetful.hf.operations.get(unsent.operation)).toBeUndefined();
    expect(unsent.message).toContain("The same call may be made again");
    expect(unsent.message).not.toContain("holdfire show");
    expect(world.effects()).toHaveLength(1);
  });

  test("what another call has made, by its own answer, is not found for this one", async () => {
    const world = newWorld(newFolder());
    const rules = rulesFor({
      kind: "write",
      onDrift: "allow",
      readWith: {
        tool: "list_notes",
        items: "data",
        match: { "given.title": "$intent.title" },
        madeAt: "madeAt",
        id: "id",
      },
    });
    const host = await startHost(world, { version, rules });
    const lost = { title: "t", text: "a", nothing: true };
    expect(JSON.parse(textIn(await host.call("note", lost)))).toMatchObject({ outcome: "unknown" });
    await host.call("note", { title: "t", text: "b", named: true });
    expect(JSON.parse(textIn(await host.call("note", lost)))).toMatchObject({ outcome: "unknown" });
  });

  test("a result that is no success by the rule is not done, and is not told as already done", async () => {
    const world = newWorld(newFolder());
    const rules = rulesFor({ kind: "write", succeedsWith: [{ id: "n1" }, { id: "n2" }] });
    const host = await startHost(world, { version, rules });
    const no = await host.call("note", { text: "a", named: true });
    expect(JSON.parse(textIn(no))).toMatchObject({ outcome: "unknown" });
    expect(JSON.parse(textIn(no)).message).toContain("answered with an error");
    const { items } = await host.hf.operations.list();
    expect(items).toMatchObject([{ status: "unknown", reason: "unclear_answer" }]);
    const other = await startHost(world, { version, rules, label: "other" });
    const yes = await other.call("note", { text: "b", named: true });
    expect(yes).toMatchObject({ structuredContent: { id: "n1" } });
  });

  test("many long arguments: each is still known by its name", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, {
      version,
      rules: rulesFor({ kind: "write", intent: ["text"] }),
    });
    const long = Object.fromEntries([..."bcdefghij"].map((name) => [name, name.repeat(21_000)]));
    await host.call("note", { text: "a", ...long });
    await host.call("note", { text: "b", ...long });
    expect(world.effects()).toHaveLength(2);
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

describe("a call that runs as a task, made again once its handle was received", () => {
  const params = { name: "pay", arguments: { text: "a", task: true } };
  async function begun() {
    const world = newWorld(newFolder());
    const host = await startHost(world, { raw: true });
    const call = async () => {
      const { result } = (await host.request("tools/call", params)) as { result: Result };
      // Another request: what came before was received.
      await host.request("tools/list");
      return result;
    };
    await call();
    const becomes = (status: string) => writeFileSync(`${world.file}.task`, status);
    return { world, host, call, becomes };
  }

  test("the server says what has become of the task, and so is the model told", async () => {
    const { world, call, becomes } = await begun();
    const working = await call();
    expect(working).toMatchObject({ task: { taskId: "t1" } });
    expect(textIn(working)).toContain("a task that is still working");
    becomes("completed");
    expect(textIn(await call())).toContain("Already done at");
    becomes("forgotten");
    expect(textIn(await call())).toContain("the server says nothing any more");
    expect(world.effects()).toHaveLength(1);
  });

  test("a task that has failed is like an error: the call is made again", async () => {
    const { world, call, becomes } = await begun();
    becomes("failed");
    expect(await call()).toMatchObject({ task: { taskId: "t1" } });
    expect(world.effects()).toHaveLength(2);
  });

  test("holdfire_status asks the server, too", async () => {
    const { host, becomes } = await begun();
    becomes("cancelled");
    const { items } = await host.hf.operations.list();
    const name = "holdfire_status";
    const asked = { name, arguments: { operation: items[0]?.id } };
    const { result } = (await host.request("tools/call", asked)) as { result: Result };
    expect(JSON.parse(textIn(result))).toMatchObject({ task: "failed" });
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
