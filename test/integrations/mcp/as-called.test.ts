/** A call of an MCP client is what it was when it was made: both SDKs, real servers, what arrived is compared. */
import { describe, expect, onTestFinished, test } from "vitest";
import { createHoldfire } from "../../../src/create.ts";
import { guardMcpClient, type McpGuardOptions } from "../../../src/integrations/mcp/index.ts";
import { memoryStore } from "../../../src/stores/memory.ts";
import { type Arrival, connect, type Result, startServer, type Version } from "./servers.ts";

const NAMES = ["create_user", "send_welcome", "close_account"];

async function set(version: Version, options: McpGuardOptions) {
  const arrived: Arrival[] = [];
  /** What the server does with a call; it answers "ok" unless this throws. */
  const server = { fail: (_: Arrival): void => {} };
  const annotations = { readOnlyHint: true };
  const { url } = await startServer(version, {
    tools: [...NAMES, "look"].map((name) => ({
      name,
      inputSchema: { type: "object" },
      ...(name === "look" ? { annotations } : {}),
    })),
    async call(arrival) {
      arrived.push(arrival);
      server.fail(arrival);
      return { content: [{ type: "text", text: "ok" }] };
    },
  });
  const store = memoryStore({ forgets: "accepted" });
  const hf = createHoldfire({ store, retry: { minDelayMs: 1, maxDelayMs: 1 } });
  onTestFinished(() => hf.close());
  const client = guardMcpClient(await connect(version, url), hf, options);
  const call = (params: object, given?: object) =>
    version === "v1"
      ? client.callTool(params, undefined as never, given as never)
      : client.callTool(params, given as never);
  const ledger = async () =>
    (await hf.operations.list()).items.map(({ tool }) => tool.replace(/^.*#/, "")).sort();
  return { arrived, server, call, ledger };
}

const RULES = { tools: { "*": "write" }, scope: "job-1" } as const;
const told = ({ content }: Result) => JSON.parse(content[0]?.text ?? "");

describe.each(["v1", "v2"] as const)("SDK %s", (version) => {
  test("one object of parameters, whose name and _meta change: the ledger says what was sent", async () => {
    const { arrived, call, ledger } = await set(version, RULES);
    const params = { name: "", arguments: { id: "u1" }, _meta: { by: { step: "" } } };
    await Promise.all(
      NAMES.map((name) => {
        params.name = name;
        params._meta.by.step = name;
        return call(params);
      }),
    );
    expect(arrived.map(({ name }) => name).sort()).toEqual([...NAMES].sort());
    expect(await ledger()).toEqual([...NAMES].sort());
    for (const { name, meta } of arrived) expect(meta.by).toEqual({ step: name });
  });

  test("a resend goes to the tool that was called", async () => {
    const keyed = { keyed: { forMs: 60_000 } };
    const tools = { "*": { kind: "write", ...keyed } } as const;
    const { arrived, call, server } = await set(version, { ...RULES, tools });
    const params = { name: "create_user", arguments: { id: "u1" } };
    server.fail = () => {
      if (arrived.length > 1) return;
      params.name = "close_account";
      params.arguments.id = "u2";
      throw new Error("upstream timed out");
    };
    await call(params);
    expect(arrived.map(({ name, args }) => [name, args.id])).toEqual([
      ["create_user", "u1"],
      ["create_user", "u1"],
    ]);
  });

  test("options that change afterwards change nothing", async () => {
    const { arrived, call } = await set(version, RULES);
    const options: { signal?: AbortSignal } = {};
    const called = call({ name: "create_user" }, options);
    options.signal = AbortSignal.abort();
    expect(told(await called)).toMatchObject({ ok: true });
    expect(arrived).toHaveLength(1);
  });

  test("what scope and again look up is what stood there when the call was made", async () => {
    let now = "";
    const byScope = await set(version, { ...RULES, scope: () => `turn-${now}` });
    const tools = { "*": { kind: "write", again: () => now } } as const;
    const byClick = await set(version, { ...RULES, tools });
    for (const { call, arrived } of [byScope, byClick]) {
      const calls = ["1", "2", "3"].map((next) => {
        now = next;
        return call({ name: "create_user", arguments: { id: "u1" } });
      });
      now = "4";
      const replies = (await Promise.all(calls)).map(told);
      expect(replies.map(({ replayed }) => replayed)).toEqual([false, false, false]);
      expect(arrived).toHaveLength(3);
    }
  });

  test("functions are asked about the object that the caller gave, and a read does without their answers", async () => {
    const turns = new WeakMap<object, string>();
    const scope = (given: object) => {
      const turn = turns.get(given);
      if (!turn) throw new Error("There is no turn for this call.");
      return turn;
    };
    const { call } = await set(version, { tools: { "*": "write" }, scope });
    const params = { name: "create_user", arguments: { id: "u1" } };
    await expect(call(params)).rejects.toThrow("There is no turn for this call.");
    turns.set(params, "turn-1");
    expect(told(await call(params))).toMatchObject({ ok: true });
    expect((await call({ name: "look" })).content[0]?.text).toBe("ok");
  });
});
