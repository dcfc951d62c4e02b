/** Who is asked, by what means, and what an answer does. */
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { newWorld, startHost, textIn, VERSIONS } from "./world.ts";

const newFolder = temporaryFolder();
const wiped = (effects: readonly { name: string }[]) =>
  effects.filter(({ name }) => name === "wipe").length;

describe.each(VERSIONS)("SDK %s", (version) => {
  test("what the server calls destructive is asked of a person, who sees tool, server and arguments", async () => {
    const world = newWorld(newFolder());
    const asked: string[] = [];
    const elicit = (message: string) => {
      asked.push(message);
      return "yes" as const;
    };
    const host = await startHost(world, { version, elicit });
    expect(textIn(await host.call("wipe", { text: "a\u202eb" }))).toContain("noted");
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('"wipe"');
    expect(asked[0]).toContain('"noting"');
    expect(asked[0]).toMatch(/202e/i);
    expect(asked[0]).not.toContain("\u202e");
    expect(wiped(world.effects())).toBe(1);
    const { items } = await host.hf.operations.list();
    expect(items[0]?.answers).toMatchObject([{ approve: true, by: "ana via test-host" }]);
  });

  test("a no is final, and nothing is sent", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version, elicit: () => "no" });
    const denied = await host.call("wipe", { text: "a" });
    expect(JSON.parse(textIn(denied))).toMatchObject({ outcome: "denied" });
    expect(world.effects()).toEqual([]);
  });

  test("a host that cannot ask leaves the question in the inbox, and the same call spends the yes", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version });
    const held = JSON.parse(textIn(await host.call("wipe", { text: "a" })));
    expect(held).toMatchObject({ outcome: "held" });
    await host.call("look");
    expect(world.effects()).toMatchObject([{ name: "look" }]);
    const approval = await host.hf.approvals.get(held.operation);
    await host.hf.approvals.approve(held.operation, {
      digest: approval?.digest ?? "",
      by: "ana",
    });
    expect(textIn(await host.call("wipe", { text: "a" }))).toContain("noted");
    expect(wiped(world.effects())).toBe(1);
  });

  test("a dialogue that was closed is no answer", async () => {
    const world = newWorld(newFolder());
    let said: "close" | "yes" = "close";
    const host = await startHost(world, { version, elicit: () => said });
    const held = await host.call("wipe", { text: "a" });
    expect(JSON.parse(textIn(held))).toMatchObject({ outcome: "held" });
    said = "yes";
    await host.call("wipe", { text: "a" });
    expect(wiped(world.effects())).toBe(1);
  });

  test("a repeat soon after is asked about: a yes makes two, a no one", async () => {
    const world = newWorld(newFolder());
    let said: "no" | "yes" = "yes";
    const host = await startHost(world, { version, elicit: () => said });
    const paid = () => world.effects().filter(({ name }) => name === "pay").length;
    await host.call("pay", { text: "a" });
    await host.call("look");
    await host.call("pay", { text: "a" });
    expect(paid()).toBe(2);
    await host.call("look");
    said = "no";
    const denied = await host.call("pay", { text: "a" });
    expect(JSON.parse(textIn(denied))).toMatchObject({ outcome: "denied" });
    expect(paid()).toBe(2);
  });

  test("another wording after an unknown of a write is held, and a read of a tool without hints is not", async () => {
    const world = newWorld(newFolder());
    const rules = { servers: { noting: { note: { kind: "write" as const } } } };
    const host = await startHost(world, { version, rules });
    const fail = { fail: true };
    expect(JSON.parse(textIn(await host.call("note", { text: "a", ...fail })))).toMatchObject({
      outcome: "unknown",
    });
    const other = await host.call("note", { text: "b" });
    expect(JSON.parse(textIn(other))).toMatchObject({ outcome: "held" });
    expect(world.effects()).toHaveLength(1);
    const allowing = {
      servers: { noting: { note: { kind: "write", onDrift: "allow" } as const } },
    };
    const second = await startHost(world, { version, rules: allowing, label: "other" });
    await second.call("note", { text: "a", ...fail });
    expect(textIn(await second.call("note", { text: "b" }))).toContain("noted b");
  });

  test("a definition that has changed needs a yes", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version });
    await host.call("note", { text: "a", change: true });
    const held = await host.call("note", { text: "b" });
    expect(JSON.parse(textIn(held))).toMatchObject({ outcome: "held" });
    expect(world.effects()).toHaveLength(1);
  });
});

test("a server that asks for something first: the call that is issued again is the same operation", async () => {
  const world = newWorld(newFolder());
  const host = await startHost(world, { version: "v2", elicit: () => "yes" });
  expect(textIn(await host.call("note", { text: "a", ask: true }))).toContain("noted a");
  expect(world.effects()).toMatchObject([{ state: "server-state", key: expect.any(String) }]);
  expect((await host.hf.operations.list()).items).toHaveLength(1);
});
