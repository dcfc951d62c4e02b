/** What goes through the gateway unchanged, and what it does with what it cannot hand on. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseLine, requestText } from "../../src/gateway/pipe/message.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { newWorld, PATIENT, startHost, textIn, VERSIONS } from "./world.ts";

const newFolder = temporaryFolder();

test("unknown methods, malformed lines and batches go through byte for byte", async () => {
  const world = newWorld(newFolder());
  const host = await startHost(world, { raw: true });
  const echoed = host.next(({ id }) => id === 1);
  host.write('{"jsonrpc": "2.0","id":1,"method":"echo","params":{"n":12345678901234567890}}');
  expect(await echoed).toEqual({
    jsonrpc: "2.0",
    id: 1,
    result: { params: { n: Number("12345678901234567890") } },
  });
  const refused = host.next(({ error }) => error !== undefined);
  host.write("{ this is no JSON");
  expect(await refused).toMatchObject({ error: { code: -32700 } });
});

test("numbers that are one double, and two as they were written, make two calls", async () => {
  const world = newWorld(newFolder());
  const host = await startHost(world, { raw: true });
  const answered = host.next(({ id }) => id === 7);
  host.write(
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"note","arguments":{"text":"a","n":12345678901234567890}}}',
  );
  await answered;
  const noted = host.next(({ id }) => id === 8);
  // The last digit differs: another call.
  host.write(
    '{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"note","arguments":{"text":"a","n":12345678901234567891}}}',
  );
  await noted;
  expect(world.effects()).toHaveLength(2);
});

test("a number that is no double is written as it was read", () => {
  const text = '{"n":12345678901234567890,"x":0.12345678901234567890,"y":1}';
  const params = parseLine(Buffer.from(text)) as object;
  expect(requestText(1, "m", params)).toContain(`"params":${text}`);
});

test("the calls of a batch are guarded one by one, and the rest of it goes through", async () => {
  const world = newWorld(newFolder());
  const host = await startHost(world, { raw: true });
  const params = { name: "note", arguments: { text: "a" } };
  const both = Promise.all([1, 2].map((id) => host.next((message) => message.id === id)));
  host.write(
    JSON.stringify([
      { jsonrpc: "2.0", id: 1, method: "tools/call", params },
      { jsonrpc: "2.0", id: 2, method: "ping" },
    ]),
  );
  await both;
  expect(world.effects()).toMatchObject([{ key: expect.any(String) }]);
});

test("a tools/call without an id, or with one that is none, is not handed on", async () => {
  const world = newWorld(newFolder());
  const host = await startHost(world, { raw: true });
  const params = { name: "note", arguments: { text: "a" } };
  host.write(JSON.stringify({ jsonrpc: "2.0", method: "tools/call", params }));
  host.write(JSON.stringify({ jsonrpc: "2.0", id: { a: 1 }, method: "tools/call", params }));
  await host.request("ping");
  expect(world.effects()).toEqual([]);
  expect(host.logged).toHaveLength(2);
});

test("a message of the host that is too long is refused, and the pipe stands", async () => {
  const host = await startHost(newWorld(newFolder()), { raw: true });
  const refused = host.next(({ id }) => id === null);
  host.write(`{"jsonrpc":"2.0","id":1,"method":"echo","params":{"x":"${"y".repeat(1_000_000)}"}}`);
  expect(await refused).toMatchObject({ error: { code: -32600 } });
  expect(await host.request("ping")).toMatchObject({ result: {} });
});

test("a server that sends a message that is too long is ended, and a call of it is unknown", async () => {
  const world = newWorld(newFolder());
  const host = await startHost(world, { raw: true });
  const answered = host.next(({ id }) => id === 5);
  const params = { name: "pay", arguments: { text: "a", hang: true } };
  host.write(JSON.stringify({ jsonrpc: "2.0", id: 5, method: "tools/call", params }));
  await expect.poll(world.effects, PATIENT).toHaveLength(1);
  host.write(
    JSON.stringify({ jsonrpc: "2.0", id: 6, method: "flood", params: { bytes: 2_000_000 } }),
  );
  const { result } = (await answered) as { result: { content: { text: string }[] } };
  expect(JSON.parse(result.content[0]?.text ?? "")).toMatchObject({ outcome: "unknown" });
  expect(await host.end()).toBe(128 + 15);
  expect(host.logged[0]).toContain("more than");
});

test("the exit code of the server is that of the gateway", async () => {
  const host = await startHost(newWorld(newFolder()), { raw: true });
  const params = { name: "note", arguments: { text: "a", die: true } };
  host.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
  expect(await host.end()).toBe(3);
});

describe.each(VERSIONS)("SDK %s", (version) => {
  test("a tool that only reads is called each time, without a key, and its cancellation reaches the server", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version });
    await host.call("look", { text: "a" });
    await host.call("look", { text: "a" });
    expect(world.effects()).toMatchObject([{ name: "look" }, { name: "look" }]);
    expect(world.effects()[0]).not.toHaveProperty("key");
    const stop = new AbortController();
    const looking = host.call("look", { hang: true }, { signal: stop.signal });
    await expect.poll(world.effects, PATIENT).toHaveLength(3);
    stop.abort();
    await expect(looking).rejects.toThrow();
    const cancelled = () => readFileSync(`${world.file}.cancelled`, "utf8");
    await expect.poll(() => JSON.parse(cancelled()), PATIENT).toHaveProperty("requestId");
  });

  test("the server hears of a cancelled call under the id that it knows, and progress reaches the host", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version, patienceMs: 300 });
    const heard = host.next(({ method }) => method === "notifications/progress");
    const until = join(world.folder, "go");
    const stop = new AbortController();
    await host.call("note", { text: "a", progress: true }, { meta: { progressToken: 9 } });
    expect(await heard).toMatchObject({ params: { progressToken: 9 } });
    const noting = host.call("note", { text: "b", until }, { signal: stop.signal });
    await expect.poll(world.effects, PATIENT).toHaveLength(2);
    stop.abort();
    await expect(noting).rejects.toThrow();
    const cancelled = () => readFileSync(`${world.file}.cancelled`, "utf8");
    await expect.poll(() => JSON.parse(cancelled()).requestId, PATIENT).toMatch(/^holdfire-/);
  });

  test("calls that differ stay parallel", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version });
    const until = join(world.folder, "go");
    const slow = host.call("note", { text: "slow", until });
    expect(textIn(await host.call("note", { text: "fast" }))).toContain("noted fast");
    world.release(until);
    expect(textIn(await slow)).toContain("noted slow");
  });

  test("the server's tools are listed as they are, with two of ours", async () => {
    const host = await startHost(newWorld(newFolder()), { version });
    const { tools } = await host.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...["note", "pay", "wipe", "look", "list_notes", "keyed"],
      ...["holdfire_status", "holdfire_do_again"],
    ]);
    expect(tools.find(({ name }) => name === "keyed")?.inputSchema).toEqual({
      type: "object",
      properties: { text: { type: "string" } },
      required: [],
    });
  });

  test("an answer with an error is the server's own, and ends the call", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version });
    const failed = await host.call("note", { text: "a", fail: true });
    expect(failed).toMatchObject({ isError: true, content: [{ text: "no" }] });
    await expect(host.call("note", { text: "a", fail: "error" })).rejects.toMatchObject({
      code: -32000,
      data: 7,
    });
    // Tried again at once, it is tried again.
    await host.call("note", { text: "b", fail: true });
    await host.call("note", { text: "b", fail: true });
    expect(world.effects()).toHaveLength(4);
  });
});
