/** Who is asked, by what means, and what an answer does. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { newWorld, PATIENT, startHost, textIn, VERSIONS } from "./world.ts";

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
    expect(held.message).toContain(`npx holdfire inbox --store ${world.ledger}`);
    const status = JSON.parse(textIn(await host.call("holdfire_status")));
    expect(status.personAnswersWith).toBe(`npx holdfire inbox --store ${world.ledger}`);
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

  test("a no to a repeat stays a no when it is made again, also by another gateway", async () => {
    const world = newWorld(newFolder());
    const elicit = () => "no" as const;
    const host = await startHost(world, { version, elicit });
    await host.call("pay", { text: "a" });
    for (const _ of [1, 2]) {
      await host.call("look");
      const denied = await host.call("pay", { text: "a" });
      expect(JSON.parse(textIn(denied))).toMatchObject({ outcome: "denied" });
    }
    await host.call("look");
    await host.end();
    const next = await startHost(world, { version, elicit });
    const denied = await next.call("pay", { text: "a" });
    expect(JSON.parse(textIn(denied))).toMatchObject({ outcome: "denied" });
    expect(world.effects().filter(({ name }) => name === "pay")).toHaveLength(1);
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

describe("a call that is issued again with what the server asked for", () => {
  const params = { name: "note", arguments: { text: "a", ask: true } };
  const answered = (requestState: unknown) => ({
    ...params,
    requestState,
    inputResponses: { really: {} },
  });
  type Asked = { result: { resultType?: string; requestState?: string; content?: unknown[] } };

  test("after the gateway has died it is the same one still, and is not sent", async () => {
    const world = newWorld(newFolder());
    const first = await startHost(world, { raw: true });
    const { result } = (await first.request("tools/call", params)) as Asked;
    expect(result.resultType).toBe("input_required");
    await first.killServer();
    const second = await startHost(world, { raw: true });
    const told = (await second.request("tools/call", answered(result.requestState))) as Asked;
    expect(JSON.stringify(told)).toContain("unknown");
    expect(world.effects()).toEqual([]);
  });

  test("it can be cancelled by its own id: then its answer was not received", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { raw: true });
    const until = join(world.folder, "go");
    const slow = { ...params, arguments: { ...params.arguments, until } };
    const { result } = (await host.request("tools/call", slow)) as Asked;
    const more = { ...answered(result.requestState), arguments: slow.arguments };
    const send = (message: object) => host.write(JSON.stringify({ jsonrpc: "2.0", ...message }));
    send({ id: "second", method: "tools/call", params: more });
    await expect.poll(() => world.effects().length, PATIENT).toBe(1);
    send({ method: "notifications/cancelled", params: { requestId: "second" } });
    await host.request("ping");
    world.release(until);
    await expect
      .poll(async () => (await host.hf.operations.list()).items, PATIENT)
      .toMatchObject([{ status: "committed" }]);
    await host.request("tools/list");
    const again = { ...slow, inputResponses: { really: {} } };
    const told = await host.request("tools/call", again);
    expect(JSON.stringify(told)).toContain('"replayed":true');
    expect(world.effects()).toHaveLength(1);
  });

  test("with a state that it was not given, it is refused, and goes on with its own", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { raw: true });
    const { result } = (await host.request("tools/call", params)) as Asked;
    const changed = answered(`${result.requestState}-changed`);
    expect(await host.request("tools/call", changed)).toMatchObject({ error: { code: -32602 } });
    expect(world.effects()).toEqual([]);
    const told = await host.request("tools/call", answered(result.requestState));
    expect(JSON.stringify(told)).toContain("noted a");
    expect(world.effects()).toHaveLength(1);
  });

  test("with the state of a call that is over, the server asks anew", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { raw: true });
    const { result } = (await host.request("tools/call", answered("holdfire-round:gone"))) as Asked;
    expect(result.resultType).toBe("input_required");
    expect(world.effects()).toEqual([]);
  });
});
