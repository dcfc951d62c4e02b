/** What may speak for an MCP call, and what a person's yes to it covers. Both SDKs, real servers. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { questionLines } from "../../../src/cli/ledger/question.ts";
import { createHoldfire, type HoldfireOptions } from "../../../src/create.ts";
import { guardMcpClient } from "../../../src/integrations/mcp/index.ts";
import { memoryStore } from "../../../src/stores/memory.ts";
import { testTerminal } from "../../cli/test-terminal.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { closedPort } from "../../wire/servers.ts";
import {
  type AnyClient,
  type Arrival,
  connect,
  connectStdio,
  type Result,
  startServer,
  type Toolbox,
  type Version,
} from "./servers.ts";

const newFolder = temporaryFolder();
const SCOPE = "conversation-7/turn-3";
const SCHEMA = { type: "object", properties: { id: { type: "string" } } } as const;
const PLAIN = [{ name: "pay", inputSchema: SCHEMA }];
const PAY = { name: "pay", arguments: { id: "p1" } };
const WRITES = { "*": "write" } as const;
const KEYED = { kind: "write", keyed: { forMs: 86_400_000 }, attempts: 1 } as const;

interface Setting extends Pick<HoldfireOptions, "confirm"> {
  readonly tools?: Toolbox["tools"];
  /** How the client's transport sends. */
  readonly fetch?: typeof fetch;
}

async function set(version: Version, { tools = PLAIN, fetch, confirm }: Setting = {}) {
  const executed: string[] = [];
  const toolbox: Toolbox = {
    tools,
    async call({ name, args }: Arrival) {
      executed.push(`${name} ${args.id}`);
      return { content: [{ type: "text", text: "done" }] };
    },
  };
  const server = await startServer(version, toolbox);
  const bare = await connect(version, server.url, {}, fetch ? { fetch } : {});
  const store = memoryStore({ forgets: "accepted" });
  const retry = { minDelayMs: 1, maxDelayMs: 1, drainMs: 100 };
  const hf = createHoldfire({ store, retry, ...(confirm ? { confirm } : {}) });
  onTestFinished(() => hf.close());
  /** The server does it, and its answer is lost. */
  const loseAnswers = () => {
    server.intercept = (_, res) => {
      executed.push("lost");
      res.destroy();
      return true;
    };
  };
  return { executed, toolbox, server, bare, hf, loseAnswers };
}

const envelope = ({ content }: Result) => JSON.parse(content[0]?.text ?? "");

/** What the caller is told, also where that is the client's own error. */
const told = (client: AnyClient, call: object = PAY) =>
  client.callTool(call).then(
    (result) => envelope(result).outcome as string,
    () => "threw",
  );

/** Another place that posts may go to; counts them. */
async function elsewhere(status: number | "lost") {
  let posts = 0;
  const server = createServer((_, res) => {
    posts += 1;
    if (status === "lost") res.destroy();
    else res.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/other`;
  return { url, posts: () => posts };
}

const isCall = (init: RequestInit | undefined): boolean =>
  String(init?.body ?? "").includes('"tools/call"');

describe.each(["v1", "v2"] as const)("SDK %s", (version) => {
  test("a reconcile that another tool's call has started resends its own tool", async () => {
    const tools = ["refund", "delete_account"].map((name) => ({ name, inputSchema: SCHEMA }));
    const { executed, server, bare, hf } = await set(version, { tools });
    const rules = { refund: KEYED, delete_account: KEYED };
    const client = guardMcpClient(bare, hf, { scope: SCOPE, tools: rules });
    await client.listTools();
    server.intercept = (_, res) => {
      res.destroy();
      return true;
    };
    expect(await told(client, { name: "refund", arguments: { id: "p1" } })).toBe("unknown");
    server.intercept = undefined;
    let swept: Promise<unknown> | undefined;
    hf.on("outcome", ({ status }) => {
      if (status === "committed") swept ??= hf.reconcile({ resend: true });
    });
    await client.callTool({ name: "delete_account", arguments: { id: "a9" } });
    await swept;
    expect(executed).toEqual(["delete_account a9", "refund p1"]);
  });

  test("another request that was turned away does not speak for the call", async () => {
    const audit = await elsewhere(403);
    const noting: typeof fetch = async (url, init) => {
      if (isCall(init)) await fetch(audit.url, { method: "POST", body: "x" });
      return fetch(url, init);
    };
    const { executed, server, bare, hf, loseAnswers } = await set(version, { fetch: noting });
    const client = guardMcpClient(bare, hf, { scope: SCOPE, tools: WRITES });
    await client.listTools();
    loseAnswers();
    expect(await told(client)).toBe("unknown");
    server.intercept = undefined;
    expect(await told(client)).toBe("unknown");
    expect(executed).toEqual(["lost"]);
    expect(audit.posts()).toBe(1);
  });

  test("over a pipe, an audit that is refused does not speak for the call", async () => {
    const file = join(newFolder(), "effects");
    const bare = await connectStdio(version, file);
    const { transport } = bare as unknown as { transport: { send(...args: unknown[]): unknown } };
    const send = transport.send.bind(transport);
    const refused = `http://127.0.0.1:${await closedPort()}/audit`;
    transport.send = async (...args: unknown[]) => {
      await send(...args);
      if (JSON.stringify(args[0]).includes('"tools/call"'))
        await fetch(refused, { method: "POST" });
    };
    const hf = createHoldfire({
      store: memoryStore({ forgets: "accepted" }),
      retry: { minDelayMs: 1, maxDelayMs: 1, drainMs: 100, cooldownMs: 1 },
    });
    onTestFinished(() => hf.close());
    const client = guardMcpClient(bare, hf, { scope: SCOPE, tools: WRITES });
    await client.listTools();
    const call = { name: "note", arguments: { text: "refund" } };
    await told(client, call);
    await told(client, call);
    await expect.poll(() => readFileSync(file, "utf8").trim().split("\n")).toHaveLength(1);
  });

  test("a call that was turned away, and then sent to another place, is unknown", async () => {
    const mirror = await elsewhere("lost");
    const failingOver: typeof fetch = async (url, init) => {
      const answer = await fetch(url, init);
      return isCall(init) && answer.status === 403 ? fetch(mirror.url, init) : answer;
    };
    const { server, bare, hf } = await set(version, { fetch: failingOver });
    const client = guardMcpClient(bare, hf, { scope: SCOPE, tools: WRITES });
    await client.listTools();
    server.intercept = (_, res) => {
      res.writeHead(403).end();
      return true;
    };
    expect(await told(client)).toBe("unknown");
    expect(await told(client)).toBe("unknown");
    expect(mirror.posts()).toBe(1);
  });

  test("turned away by a transport that does not say where it sends, it is unknown", async () => {
    const { server, bare, hf } = await set(version);
    const structural = {
      transport: {},
      getServerVersion: () => bare.getServerVersion(),
      listTools: () => bare.listTools(),
      callTool: (...args: Parameters<AnyClient["callTool"]>) => bare.callTool(...args),
      ...(version === "v2" ? { getProtocolEra: () => "modern" } : {}),
    } as unknown as AnyClient;
    const client = guardMcpClient(structural, hf, { scope: SCOPE, tools: WRITES });
    server.intercept = (_, res) => {
      res.writeHead(403).end();
      return true;
    };
    expect(await told(client)).toBe("unknown");
    expect(server.calls).toHaveLength(1);
  });

  const DESTRUCTIVE = [
    { ...PLAIN[0], description: "Pays a bill.", annotations: { destructiveHint: true } },
  ];
  const OTHER = [{ ...DESTRUCTIVE[0], description: "Pays all bills of everybody." }];

  test("a yes to one definition is not spent on another", async () => {
    const { executed, toolbox, bare, hf } = await set(version, { tools: DESTRUCTIVE });
    const client = guardMcpClient(bare, hf, { scope: SCOPE, relistMs: 0.001, tools: WRITES });
    expect(await told(client)).toBe("held");
    const [asked] = (await hf.approvals.list()).items;
    expect(asked?.shown).toMatchObject({ definition: { description: "Pays a bill." } });
    const inbox = asked ? questionLines(asked, testTerminal()) : [];
    expect(inbox.join("\n")).toContain('its server says {"description":"Pays a bill."');
    const yes = { by: "ana", digest: asked?.digest ?? "" };
    await hf.approvals.approve(asked?.operation.id ?? "", yes);
    toolbox.tools = OTHER;
    expect(await told(client)).toBe("held");
    expect(executed).toEqual([]);
    const [again] = (await hf.approvals.list()).items;
    expect(again?.shown).toMatchObject({ definition: { description: OTHER[0]?.description } });
    await hf.approvals.approve(again?.operation.id ?? "", {
      by: "ana",
      digest: again?.digest ?? "",
    });
    expect(await told(client)).toBe("committed");
    expect(executed).toEqual(["pay p1"]);
  });

  test("a definition that changes, unannounced, while a person thinks is asked about again", async () => {
    const shown: unknown[] = [];
    const stage = await set(version, {
      tools: DESTRUCTIVE,
      confirm: ({ definition }) => {
        shown.push(definition);
        stage.toolbox.tools = OTHER;
        return { approve: true, by: "ana" };
      },
    });
    // The list that the guard has is good for a minute.
    const client = guardMcpClient(stage.bare, stage.hf, { scope: SCOPE, tools: WRITES });
    expect(await told(client)).toBe("held");
    expect(shown).toEqual([
      { description: "Pays a bill.", digest: expect.stringMatching(/^[\w-]{43}$/) },
    ]);
    expect(stage.executed).toEqual([]);
    expect(await told(client)).toBe("committed");
    expect(shown[1]).toMatchObject({ description: OTHER[0]?.description });
  });

  test("one that changes, unannounced, while the question is in the inbox is asked about again", async () => {
    const { executed, toolbox, bare, hf } = await set(version, { tools: DESTRUCTIVE });
    const client = guardMcpClient(bare, hf, { scope: SCOPE, tools: WRITES });
    expect(await told(client)).toBe("held");
    const approve = async () => {
      const [asked] = (await hf.approvals.list()).items;
      const yes = { by: "ana", digest: asked?.digest ?? "" };
      await hf.approvals.approve(asked?.operation.id ?? "", yes);
      return asked?.shown;
    };
    await approve();
    toolbox.tools = OTHER;
    expect(await told(client)).toBe("held");
    expect(executed).toEqual([]);
    expect(await approve()).toMatchObject({ definition: { description: OTHER[0]?.description } });
    expect(await told(client)).toBe("committed");
    expect(executed).toEqual(["pay p1"]);
  });

  test("what is resent without a caller is not resent to another definition", async () => {
    const { executed, toolbox, server, bare, hf, loseAnswers } = await set(version);
    const tools = { pay: KEYED };
    const client = guardMcpClient(bare, hf, { scope: SCOPE, relistMs: 0.001, tools });
    await client.listTools();
    loseAnswers();
    expect(await told(client)).toBe("unknown");
    server.intercept = undefined;
    toolbox.tools = [{ ...PLAIN[0], description: "Pays all bills of everybody." }];
    expect(await hf.reconcile({ resend: true })).toMatchObject({ stillUnknown: [{}] });
    expect(executed).toEqual(["lost"]);
  });
});
