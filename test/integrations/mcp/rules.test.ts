/** Rules for the tools of a server, and calls that certainly ran no tool: both SDKs, real servers, what arrived is counted. */

import { describe, expect, onTestFinished, test } from "vitest";
import { createHoldfire, type Holdfire } from "../../../src/create.ts";
import { guardMcpClient, type McpGuardOptions } from "../../../src/integrations/mcp/index.ts";
import { memoryStore } from "../../../src/stores/memory.ts";
import {
  type AnyClient,
  type Arrival,
  connect,
  type Result,
  startServer,
  type Toolbox,
  type Version,
} from "./servers.ts";

const SCOPE = "conversation-7/turn-3";
const SCHEMA = {
  type: "object",
  properties: { payment: { type: "string" }, cents: { type: "integer" } },
  required: ["payment", "cents"],
} as const;
const DONE = { content: [{ type: "text", text: "paid" }] };
const WRITES = { "*": "write" } as const;
const PAY = { name: "pay", arguments: { payment: "p1", cents: 400 } };

const named = (...names: string[]) => names.map((name) => ({ name, inputSchema: SCHEMA }));

async function set(version: Version, tools: Toolbox["tools"] = named("pay")) {
  const executed: Arrival[] = [];
  const toolbox: Toolbox = {
    tools,
    async call(arrival) {
      executed.push(arrival);
      return DONE;
    },
  };
  const server = await startServer(version, toolbox);
  const bare = await connect(version, server.url);
  const hf: Holdfire = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
  onTestFinished(() => hf.close());
  const guard = (options: McpGuardOptions = {}) =>
    guardMcpClient(bare, hf, { scope: SCOPE, ...options });
  return { server, toolbox, executed, bare, hf, guard };
}

const envelope = ({ content }: Result) => JSON.parse(content[0]?.text ?? "");

describe.each(["v1", "v2"] as const)("a rule for each tool, SDK %s", (version) => {
  test("a tool without hints and without a rule is not called, and all such tools are named", async () => {
    const { guard, server } = await set(version, [
      ...named("pay", "pay-out", "refund"),
      { ...named("search")[0], annotations: { readOnlyHint: true } },
      { ...named("cancel")[0], annotations: { readOnlyHint: false } },
    ]);
    const client = guard({ tools: { refund: "write" } });
    const error = await client.callTool(PAY).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain(
      'options.tools: these 2 tools have no rule: { pay: …, "pay-out": … }',
    );
    expect(error).toMatchObject({ code: "ERR_HOLDFIRE_INVALID_INPUT" });
    expect(server.calls).toHaveLength(0);
    for (const name of ["refund", "search", "cancel"]) await client.callTool({ ...PAY, name });
    expect(server.calls).toHaveLength(3);
  });

  test("a rule may leave the kind to the hints, and only to them", async () => {
    const hinted = [{ ...named("pay")[0], annotations: { readOnlyHint: false } }];
    const { guard, executed } = await set(version, hinted);
    const tools = { pay: { intent: ({ payment }: { payment: string }) => ({ payment }) } };
    const client = guard({ tools });
    await client.callTool(PAY);
    const again = await client.callTool({ ...PAY, arguments: { payment: "p1", cents: 401 } });
    expect(envelope(again)).toMatchObject({ replayed: true });
    expect(executed).toHaveLength(1);
    const other = await set(version);
    await expect(other.guard({ tools }).callTool(PAY)).rejects.toThrow(/has no rule: { pay: … }/);
  });

  test("again: a repeat that a person wants is another operation, and the model's own repeat is not", async () => {
    const { guard, executed } = await set(version);
    let clicked: string | undefined;
    const client = guard({ tools: { pay: { kind: "write", again: () => clicked } } });
    await client.callTool(PAY);
    await client.callTool(PAY);
    clicked = "clicked at 14:05";
    expect(envelope(await client.callTool(PAY))).toMatchObject({ replayed: false });
    expect(envelope(await client.callTool(PAY))).toMatchObject({ replayed: true });
    expect(executed).toHaveLength(2);
  });
});

describe.each(["v1", "v2"] as const)("certain not to have run, SDK %s", (version) => {
  const told = async (client: AnyClient, call: object = PAY) =>
    envelope(await client.callTool(call));

  test("a tool that the server does not list is not applied; once it is listed, the call is made", async () => {
    const { guard, server, toolbox, executed } = await set(version, named("refund"));
    const client = guard({ tools: WRITES });
    for (const _ of [1, 2]) {
      expect(await told(client)).toMatchObject({
        ok: false,
        outcome: "not_applied",
        effect: "noop",
      });
    }
    expect((await told(client)).message).toContain("the server lists no tool of this name");
    expect(server.calls).toHaveLength(0);
    toolbox.tools = named("refund", "pay");
    expect(await told(client)).toMatchObject({ ok: true, replayed: false });
    expect(executed).toHaveLength(1);
  });

  test("a name that the model made up needs no rule and no person", async () => {
    const { guard, server } = await set(version, named("refund"));
    for (const tools of [{ refund: "write" }, { "*": "destructive" }] as const) {
      expect(await told(guard({ tools }))).toMatchObject({ outcome: "not_applied" });
    }
    expect(server.calls).toHaveLength(0);
  });

  test("what was done before the tool went away is still answered from the record", async () => {
    const { guard, toolbox, executed } = await set(version);
    const client = guard({ tools: WRITES, relistMs: 0.001 });
    await client.callTool(PAY);
    toolbox.tools = [];
    expect(await told(client)).toMatchObject({ ok: true, replayed: true });
    expect(executed).toHaveLength(1);
  });

  test("arguments that do not fit the schema are not sent, and the model is told why", async () => {
    const { guard, server, executed } = await set(version);
    const intent = ({ payment }: { payment: string }) => ({ payment });
    const client = guard({ tools: { pay: { kind: "write", intent } } });
    const wrong = { name: "pay", arguments: { payment: "p1", cents: "four" } };
    const refused = await told(client, wrong);
    expect(refused).toMatchObject({ ok: false, outcome: "not_applied", effect: "noop" });
    expect(refused.message).toMatch(/arguments do not fit the tool's schema: .*cents/);
    expect(server.calls).toHaveLength(0);
    // The same operation, by its intent: the model has mended the rest.
    expect(await told(client)).toMatchObject({ ok: true, replayed: false });
    expect(executed).toHaveLength(1);
  });

  test("a schema that the SDK cannot use is no reason to hold a call back", async () => {
    const inputSchema = { ...SCHEMA, properties: { payment: { $ref: "#/nowhere" } } };
    const { guard, executed } = await set(version, [{ name: "pay", inputSchema }]);
    expect(await told(guard({ tools: WRITES }))).toMatchObject({ ok: true });
    expect(executed).toHaveLength(1);
  });

  test("what the client refuses before it sends is not applied; what it refuses afterwards is unknown", async () => {
    for (const [when, outcome] of [
      ["before", "not_applied"],
      ["after", "unknown"],
    ] as const) {
      const { guard, bare, server } = await set(version);
      const callTool = bare.callTool.bind(bare);
      bare.callTool = async (...args) => {
        if (when === "after") await callTool(...args);
        throw Object.assign(new Error("Invalid params"), { code: -32602 });
      };
      const client = guard({ tools: WRITES });
      expect(await told(client)).toMatchObject({ ok: false, outcome });
      expect(server.calls).toHaveLength(when === "before" ? 0 : 1);
    }
  });

  test("a client that sends by another way than its transport proves nothing", async () => {
    const { hf, bare, server } = await set(version);
    const facade = {
      // Nothing goes through it.
      transport: { send: async () => undefined, onmessage: () => undefined },
      getServerVersion: () => bare.getServerVersion(),
      listTools: () => bare.listTools(),
      async callTool(...args: Parameters<AnyClient["callTool"]>) {
        await bare.callTool(...args);
        throw new Error("lost");
      },
      ...(version === "v2" ? { getProtocolEra: () => "modern" } : {}),
    } as unknown as AnyClient;
    const client = guardMcpClient(facade, hf, { scope: SCOPE, tools: WRITES });
    expect(await told(client)).toMatchObject({ outcome: "unknown" });
    expect(server.calls).toHaveLength(1);
  });
});

test("SDK v2: an output schema that cannot be compiled stops the call before it is sent", async () => {
  const outputSchema = { type: "object", properties: { id: { $ref: "#/nowhere" } } };
  const { guard, server } = await set("v2", [{ name: "pay", inputSchema: SCHEMA, outputSchema }]);
  const { outcome } = envelope(await guard({ tools: WRITES }).callTool(PAY));
  expect(outcome).toBe("not_applied");
  expect(server.calls).toHaveLength(0);
});
