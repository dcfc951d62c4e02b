/** A server that has an address, behind the gateway: Streamable HTTP, servers and clients of both SDKs. */
import { describe, expect, test } from "vitest";
import { connectServer } from "../../src/gateway/pipe/server-address.ts";
import { eventsIn } from "../../src/gateway/pipe/server-events.ts";
import { systemClock } from "../../src/lang/clock.ts";
import { startServer, type Toolbox } from "../integrations/mcp/servers.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { closedPort } from "../wire/servers.ts";
import { newWorld, startHost, textIn, VERSIONS, type Version } from "./world.ts";

const newFolder = temporaryFolder();
const inputSchema = { type: "object", properties: { id: { type: "string" } } } as const;
const TOOLS = [
  { name: "pay", inputSchema, annotations: { readOnlyHint: false } },
  { name: "look", inputSchema, annotations: { readOnlyHint: true } },
];

const connectTo = (url: URL, headers: Record<string, string> = {}) =>
  connectServer({
    url,
    headers,
    fetch,
    maxMessageBytes: 1_000_000,
    clock: systemClock,
    log: () => {},
  });

async function set(version: Version) {
  const executed: string[] = [];
  const toolbox: Toolbox = {
    tools: TOOLS,
    async call({ name, args }) {
      executed.push(`${name} ${args.id}`);
      return { content: [{ type: "text", text: `done ${executed.length}` }] };
    },
  };
  const server = await startServer(version, toolbox);
  const { url } = server;
  const host = await startHost(newWorld(newFolder()), {
    version,
    upstream: connectTo(url, { "x-own": "yes" }),
  });
  return { server, host, executed };
}

describe.each(VERSIONS)("SDK %s", (version) => {
  test("calls, reads and errors go through", async () => {
    const { host, executed, server } = await set(version);
    expect(textIn(await host.call("pay", { id: "p1" }))).toBe("done 1");
    expect(textIn(await host.call("look", { id: "p1" }))).toBe("done 2");
    expect(executed).toEqual(["pay p1", "look p1"]);
    expect(server.calls[0]).toContain("dev.holdfire/idempotency-key");
    expect(await host.end()).toBe(0);
  });

  test("a lost reply is unknown, and the same call is not made again", async () => {
    const { host, server } = await set(version);
    await host.call("look", { id: "p1" });
    server.intercept = (_, res) => {
      res.destroy();
      return true;
    };
    const lost = await host.call("pay", { id: "p1" });
    expect(JSON.parse(textIn(lost))).toMatchObject({
      outcome: "unknown",
      message: expect.stringContaining("The reply was lost"),
    });
    const posted = server.calls.length;
    const again = await host.call("pay", { id: "p1" });
    expect(JSON.parse(textIn(again))).toMatchObject({ outcome: "unknown" });
    expect(server.calls).toHaveLength(posted);
    // A read that fails is told as a failed request.
    await expect(host.call("look", { id: "p2" })).rejects.toThrow();
  });

  test("a server that wants another authorization has not done it", async () => {
    const { host, server, executed } = await set(version);
    await host.call("look", { id: "p1" });
    server.intercept = (_, res) => {
      res.writeHead(401).end();
      return true;
    };
    const refused = await host.call("pay", { id: "p1" });
    expect(refused.isError).toBe(true);
    expect(JSON.parse(textIn(refused))).toMatchObject({ outcome: "not_applied" });
    server.intercept = undefined;
    expect(textIn(await host.call("pay", { id: "p1" }))).toBe("done 2");
    expect(executed).toEqual(["look p1", "pay p1"]);
  });
});

test("a request to a server that is not there is answered with an error", async () => {
  const url = new URL(`http://127.0.0.1:${await closedPort()}/mcp`);
  const host = await startHost(newWorld(newFolder()), { raw: true, upstream: connectTo(url) });
  expect(await host.request("ping")).toMatchObject({ error: { code: -32000 } });
  const params = { name: "pay", arguments: {} };
  expect(await host.request("tools/call", params)).toMatchObject({ result: { isError: true } });
  const { items } = await host.hf.operations.list();
  expect(items).toMatchObject([{ status: "not_applied", reason: "not_sent" }]);
});

test("events are cut as they should be, however the bytes come", async () => {
  const text =
    'event: message\r\ndata: {"a":1}\r\n\r\n: comment\n\ndata:{"b":\ndata: 2}\n\ndata: last';
  async function* bytes() {
    for (const byte of Buffer.from(text)) yield Buffer.from([byte]);
  }
  const events: string[] = [];
  for await (const line of eventsIn(bytes(), 100)) {
    events.push(line.tag === "line" ? line.bytes.toString() : line.tag);
  }
  expect(events).toEqual(['{"a":1}', '{"b": 2}', "last"]);
});
