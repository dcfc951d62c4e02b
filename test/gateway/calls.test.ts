/** Which calls are one: received or not received. Clients of both SDKs, a server that is a process. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { newWorld, PATIENT, startHost, textIn, VERSIONS } from "./world.ts";

const newFolder = temporaryFolder();

describe.each(VERSIONS)("SDK %s", (version) => {
  test("an answer that comes after the host gave up in silence is replayed to the next call", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version });
    const until = join(world.folder, "go");
    const id = { jsonrpc: "2.0", id: 777, method: "tools/call" };
    const params = { name: "pay", arguments: { text: "a", until } };
    const answered = host.next((message) => message.id === 777);
    host.write(JSON.stringify({ ...id, params }));
    await expect.poll(world.effects, PATIENT).toHaveLength(1);
    // The host waits for 60 s, the answer comes after 61.
    world.pass(61_000);
    world.release(until);
    await answered;
    const again = await host.call("pay", { text: "a", until });
    expect(textIn(again)).toBe("noted a, 1 in all");
    expect(world.effects()).toHaveLength(1);
  });

  test("read, edit, read again of a tool without hints: both reads are real", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version });
    expect(textIn(await host.call("note", { text: "read" }))).toBe("noted read, 1 in all");
    expect(textIn(await host.call("note", { text: "edit" }))).toBe("noted edit, 2 in all");
    expect(textIn(await host.call("note", { text: "read" }))).toBe("noted read, 3 in all");
  });

  test("a call that the host cancelled is the same one when it is made again", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version, patienceMs: 300 });
    const stop = new AbortController();
    const first = host.call("pay", { text: "a", hang: true }, { signal: stop.signal });
    await expect.poll(world.effects, PATIENT).toHaveLength(1);
    stop.abort();
    await expect(first).rejects.toThrow();
    const again = await host.call("pay", { text: "a", hang: true });
    expect(again.isError).toBe(true);
    expect(textIn(again)).toContain("may");
    expect(world.effects()).toHaveLength(1);
  });

  test("a repeat soon after a received success of a write is answered from the ledger, and the model can do it again, once", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version });
    await host.call("pay", { text: "a" });
    await host.call("look");
    const again = await host.call("pay", { text: "a" });
    expect(textIn(again)).toContain("Already done");
    expect(again.content[1]?.text).toBe("noted a, 1 in all");
    const [, operation] = /"operation":"([\w-]+)"/.exec(textIn(again)) ?? [];
    const paid = () => world.effects().filter(({ name }) => name === "pay");
    expect(paid()).toHaveLength(1);
    const second = await host.call("holdfire_do_again", { operation, why: "the user wants two" });
    expect(textIn(second)).toContain("noted a");
    expect(paid()).toHaveLength(2);
    // Its answer was lost: the same successor.
    await host.call("holdfire_do_again", { operation, why: "the user wants two" });
    expect(paid()).toHaveLength(2);
    expect(new Set(paid().map(({ key }) => key)).size).toBe(2);
  });

  test("a repeat later than that is a new call", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version });
    await host.call("pay", { text: "a" });
    await host.call("look");
    // Past the ten minutes by more than the gateway's estimate of the ledger's clock can be off.
    world.pass(660_000);
    await host.call("pay", { text: "a" });
    expect(world.effects().filter(({ name }) => name === "pay")).toHaveLength(2);
  });

  test("two identical calls in flight: the second waits, and goes by --repeat", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version });
    const both = await Promise.all([
      host.call("pay", { text: "a" }),
      host.call("pay", { text: "a" }),
    ]);
    expect(world.effects()).toHaveLength(1);
    expect(both.map(textIn).filter((text) => text.includes("Already done"))).toHaveLength(1);
    const allowing = await startHost(newWorld(newFolder()), { version, repeat: "allow" });
    const texts = await Promise.all(
      ["b", "b"].map(async (text) => textIn(await allowing.call("pay", { text }))),
    );
    expect(texts).toEqual(["noted b, 1 in all", "noted b, 2 in all"]);
  });

  test("other calls in flight stay parallel", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version });
    const until = join(world.folder, "go");
    const all = ["a", "b", "c", "d"].map((text) => host.call("pay", { text, until }));
    await expect.poll(world.effects, PATIENT).toHaveLength(4);
    world.release(until);
    expect((await Promise.all(all)).map(textIn)).toEqual(
      ["a", "b", "c", "d"].map((text) => `noted ${text}, 4 in all`),
    );
  });

  test("a host that dies and comes back gets the answer that it has not received", async () => {
    const world = newWorld(newFolder());
    const first = await startHost(world, { version });
    await first.call("pay", { text: "a" });
    await first.die();
    const second = await startHost(world, { version });
    expect(textIn(await second.call("pay", { text: "a" }))).toBe("noted a, 1 in all");
    expect(world.effects()).toHaveLength(1);
  });

  test("a host that ended in good order has received its answer", async () => {
    const world = newWorld(newFolder());
    const first = await startHost(world, { version });
    await first.call("note", { text: "a" });
    await first.end();
    const second = await startHost(world, { version });
    await second.call("note", { text: "a" });
    expect(world.effects()).toHaveLength(2);
  });

  test("the same call as the only one of a session, every day: asked about, not replayed for ever", async () => {
    const world = newWorld(newFolder());
    for (const day of [1, 2]) {
      const host = await startHost(world, { version });
      const answer = await host.call("pay", { text: "a" });
      if (day === 2) expect(textIn(answer)).toContain("Already done");
      await host.die();
      world.pass(86_400_000);
    }
    const asked: string[] = [];
    const elicit = (message: string) => {
      asked.push(message);
      return "yes" as const;
    };
    const host = await startHost(world, { version, elicit });
    expect(textIn(await host.call("pay", { text: "a" }))).toBe("noted a, 2 in all");
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('"pay"');
    expect(asked[0]).toContain("was done at");
    expect(world.effects()).toHaveLength(2);
  });

  test("another user's identical call on a shared ledger is another call", async () => {
    const world = newWorld(newFolder());
    const ana = await startHost(world, { version, user: "ana" });
    await ana.call("pay", { text: "a" });
    await ana.die();
    const ben = await startHost(world, { version, user: "ben" });
    expect(textIn(await ben.call("pay", { text: "a" }))).toBe("noted a, 2 in all");
  });

  test("two hosts at once on one ledger: what belongs to one that lives is left alone", async () => {
    const world = newWorld(newFolder());
    const one = await startHost(world, { version });
    await one.call("note", { text: "a" });
    const other = await startHost(world, { version });
    expect(textIn(await other.call("note", { text: "a" }))).toBe("noted a, 2 in all");
  });

  test("an unknown that was told stays the same operation until a person settles it", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version });
    const lost = await host.call("pay", { text: "a", die: true });
    // It left by a pipe: that no HTTP request was seen would sound as if nothing had been sent.
    expect(textIn(lost)).toContain("The reply was lost (ServerGoneError: ");
    expect(textIn(lost)).not.toContain("HTTP");
    expect(lost.isError).toBe(true);
    expect(JSON.parse(textIn(lost))).toMatchObject({ outcome: "unknown", ok: false });
    const back = await startHost(world, { version });
    const again = await back.call("pay", { text: "a", die: true });
    expect(JSON.parse(textIn(again))).toMatchObject({ outcome: "unknown" });
    await back.call("look");
    const { operation } = JSON.parse(textIn(await back.call("pay", { text: "a", die: true })));
    expect(world.effects().filter(({ name }) => name === "pay")).toHaveLength(1);
    const status = await back.call("holdfire_status", {});
    expect(JSON.parse(textIn(status)).open).toMatchObject([{ operation, outcome: "unknown" }]);
    await back.hf.operations.resolve(operation, { as: "committed", by: "ana" });
    const settled = await back.call("pay", { text: "a", die: true });
    expect(settled.isError).toBeFalsy();
    expect(world.effects().filter(({ name }) => name === "pay")).toHaveLength(1);
  });
});

test.each([
  ["note", "ask"],
  ["pay", "allow"],
] as const)(
  "a request that comes twice under one id is one: %s, --repeat %s",
  async (name, repeat) => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { raw: true, repeat });
    const until = join(world.folder, "go");
    const params = { name, arguments: { text: "a", until } };
    const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
    const answered = host.next(({ id }) => id === 1);
    host.write(call);
    host.write(call);
    await expect.poll(world.effects, PATIENT).toHaveLength(1);
    world.release(until);
    await answered;
    await host.end();
    expect(world.effects()).toHaveLength(1);
    expect(host.lines.filter((line) => JSON.parse(line).id === 1)).toHaveLength(1);
  },
);
