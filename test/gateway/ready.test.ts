/** The ready rules fit the servers: each tool and each argument that they name is there. */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { checkRules, type GatewayRule } from "../../src/gateway/guard/rules.ts";
import { startServer } from "../../src/gateway/pipe/server-process.ts";
import type { Upstream } from "../../src/gateway/pipe/upstream.ts";
import { READY_RULES } from "../../src/gateway/ready/index.ts";
import { newWorld, startHost } from "./world.ts";

/** Servers that start without a network. GitHub's own server and Stripe's do not, and are checked by their documents. */
const SERVERS = {
  filesystem: "server-filesystem",
  memory: "server-memory",
  "server-github": "server-github",
  slack: "server-slack",
} as const;

function start(name: string, folder: string, more: NodeJS.ProcessEnv = {}): Upstream {
  const path = `../../node_modules/@modelcontextprotocol/${name}/dist/index.js`;
  return startServer({
    command: process.execPath,
    args: [fileURLToPath(new URL(path, import.meta.url)), folder],
    cwd: folder,
    env: {
      ...process.env,
      MEMORY_FILE_PATH: join(folder, "memory.jsonl"),
      SLACK_BOT_TOKEN: "none",
      SLACK_TEAM_ID: "none",
      ...more,
    },
    maxMessageBytes: 1_000_000,
  });
}

function newFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "holdfire-ready-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const texts = (value: unknown): string[] =>
  typeof value === "object" && value !== null
    ? Object.values(value).flatMap(texts)
    : [String(value)];

/** The arguments of the tool itself that a rule names. */
const named = ({ about = [], intent = [], readWith }: GatewayRule): string[] => [
  ...about,
  ...intent,
  ...texts(readWith ?? {}).flatMap((text) =>
    text.startsWith("$intent.") ? [text.split(".")[1] ?? ""] : [],
  ),
];

test.each(Object.entries(READY_RULES))("%s: every rule is a legal one", (_, rules) => {
  expect(() => checkRules({ servers: { one: rules } })).not.toThrow();
});

test.each(Object.entries(SERVERS))("%s: what the rules name, the server has", async (set, name) => {
  const host = await startHost(newWorld(newFolder()), { upstream: start(name, newFolder()) });
  const { tools } = await host.listTools();
  const argumentsOf = (tool: string) => {
    const found = tools.find((one) => one.name === tool);
    if (!found) throw new Error(`${name} has no tool ${tool}`);
    return Object.keys(found.inputSchema.properties ?? {});
  };
  for (const [tool, rule] of Object.entries(READY_RULES[set] ?? {})) {
    expect(argumentsOf(tool), tool).toEqual(expect.arrayContaining(named(rule)));
    if (!rule.readWith) continue;
    const given = Object.keys(rule.readWith.arguments ?? {});
    expect(argumentsOf(rule.readWith.tool), tool).toEqual(expect.arrayContaining(given));
  }
  const guarded = tools.filter((one) => !one.name.startsWith("holdfire_"));
  expect(guarded.length).toBeGreaterThan(0);
});

/** The first answer to a call of this tool is lost on its way. */
function losing(tool: string, upstream: Upstream): Upstream {
  let lost: unknown;
  return {
    ...upstream,
    send(line) {
      const { id, method, params } = JSON.parse(String(line));
      if (lost === undefined && method === "tools/call" && params.name === tool) lost = id;
      return upstream.send(line);
    },
    lines: (async function* () {
      for await (const line of upstream.lines) {
        const isLost =
          line.tag === "line" && lost !== undefined && JSON.parse(String(line.bytes)).id === lost;
        if (!isLost) yield line;
      }
    })(),
  };
}

describe("a lost answer", () => {
  test("of the filesystem server is found by reading the file", async () => {
    const folder = newFolder();
    const upstream = losing("write_file", start("server-filesystem", folder));
    const rules = READY_RULES.filesystem ?? {};
    const host = await startHost(newWorld(newFolder()), {
      upstream,
      rules,
      patienceMs: 500,
      elicit: () => "yes",
    });
    const path = join(folder, "a.txt");
    const told = await host.call("write_file", { path, content: "hello\n" });
    expect(told.isError).toBeFalsy();
    expect(readFileSync(path, "utf8")).toBe("hello\n");
    const { items } = await host.hf.operations.list();
    expect(items).toMatchObject([{ status: "committed", via: "read", fired: 1 }]);
  });

  test("of the memory server is asked for again: what is done twice is done once", async () => {
    const folder = newFolder();
    const upstream = losing("create_entities", start("server-memory", folder));
    const rules = READY_RULES.memory ?? {};
    const host = await startHost(newWorld(newFolder()), { upstream, rules, patienceMs: 500 });
    const entities = [{ name: "Ana", entityType: "person", observations: ["x"] }];
    expect((await host.call("create_entities", { entities })).isError).toBeFalsy();
    const [line, ...others] = readFileSync(join(folder, "memory.jsonl"), "utf8").trim().split("\n");
    expect(JSON.parse(line ?? "")).toMatchObject({ name: "Ana" });
    expect(others).toEqual([]);
    expect((await host.hf.operations.list()).items).toMatchObject([
      { status: "committed", fired: 2 },
    ]);
  });
});

test.each([
  "Response.json({ok:false,error:'not_in_channel'})",
  "Promise.reject(new(Error)('reset'))",
])("slack: a no that the server hands on as a result is not done (%s)", async (answer) => {
  const folder = newFolder();
  const fetch = `--import=data:text/javascript,globalThis.fetch=async()=>${answer}`;
  const upstream = start("server-slack", folder, { NODE_OPTIONS: fetch });
  const rules = READY_RULES.slack ?? {};
  const host = await startHost(newWorld(folder), { upstream, rules, name: "slack" });
  const told = await host.call("slack_post_message", { channel_id: "C1", text: "hello" });
  expect(JSON.stringify(told)).toContain("answered with an error");
  const { items } = await host.hf.operations.list();
  expect(items).toMatchObject([{ status: "unknown" }]);
});
