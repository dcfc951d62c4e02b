/**
 * The official everything server says the same with the gateway and without it: requests, errors, progress, logging, what
 * it asks of the host, and a cancellation. Compared without ids, times and what the gateway adds.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../stores/temporary-folder.ts";

const newFolder = temporaryFolder();
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const SERVER = at("../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const LONG_MS = 120_000;

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: { tools?: { name: string }[] };
  readonly error?: unknown;
}

const CAPABILITIES = { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } };

/** What the host answers to what the server asks. */
const ANSWERS: Readonly<Record<string, object>> = {
  "roots/list": { roots: [{ uri: "file:///work", name: "work" }] },
  "sampling/createMessage": {
    role: "assistant",
    model: "none",
    content: { type: "text", text: "sampled" },
  },
  "elicitation/create": { action: "accept", content: { name: "Ana", check: true } },
};

const tool = (name: string, args: object, more: object = {}) =>
  ["tools/call", { name, arguments: args, ...more }] as const;

const STEPS: readonly (readonly [method: string, params: object])[] = [
  ["ping", {}],
  ["tools/list", {}],
  ["resources/list", {}],
  ["resources/templates/list", {}],
  ["prompts/list", {}],
  ["prompts/get", { name: "simple-prompt" }],
  ["prompts/get", { name: "none" }],
  ["resources/read", { uri: "demo://resource/static/document/none" }],
  ["logging/setLevel", { level: "debug" }],
  tool("echo", { message: "hello" }),
  tool("echo", {}),
  tool("none", {}),
  tool("get-sum", { a: 2, b: 3 }),
  tool("get-tiny-image", {}),
  tool("get-structured-content", { location: "Chicago" }),
  tool("get-annotated-message", { messageType: "error", includeImage: true }),
  tool("get-roots-list", {}),
  tool("trigger-sampling-request", { prompt: "say", maxTokens: 5 }),
  tool("trigger-elicitation-request", {}),
  tool(
    "trigger-long-running-operation",
    { duration: 0.1, steps: 2 },
    { _meta: { progressToken: 7 } },
  ),
  ["no/such/method", { a: 1 }],
];

/** All that the host is told, by what was asked. */
async function transcript(command: readonly string[]) {
  const [program = "", ...args] = command;
  const server = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] });
  const exited = once(server, "exit");
  onTestFinished(async () => {
    server.kill("SIGKILL");
    await exited;
  });
  const answered: unknown[] = [];
  const asked: string[] = [];
  const told: string[] = [];
  const waiting = new Map<unknown, (message: Message) => void>();
  const send = (message: object) =>
    void server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  createInterface({ input: server.stdout }).on("line", (line) => {
    const { id, method, params, result, error } = JSON.parse(line) as Message;
    if (method === undefined) waiting.get(id)?.({ result, error } as Message);
    else if (id === undefined) told.push(timeless({ method, params }));
    else {
      asked.push(timeless({ method, params }));
      send({ id, result: ANSWERS[method] ?? {} });
    }
  });
  let count = 0;
  const request = (method: string, params: object) => {
    count += 1;
    const id = count;
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
    send({ id, method, params });
    return { id, answer };
  };
  const ask = async (method: string, params: object) => {
    const message = await request(method, params).answer;
    const tools = message.result?.tools?.filter(({ name }) => !name.startsWith("holdfire_"));
    const seen = tools ? { ...message, result: { ...message.result, tools } } : message;
    answered.push([method, timeless(seen)]);
  };
  const info = { name: "test", version: "1" };
  await ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: CAPABILITIES,
    clientInfo: info,
  });
  send({ method: "notifications/initialized" });
  // Then it asks for the roots, and has all its tools.
  await expect.poll(() => asked.length, { timeout: 30_000 }).toBe(1);
  for (const [method, params] of STEPS) await ask(method, params);
  const params = { name: "trigger-long-running-operation", arguments: { duration: 0.5, steps: 1 } };
  const long = request("tools/call", params);
  send({ method: "notifications/cancelled", params: { requestId: long.id, reason: "enough" } });
  await ask("ping", {});
  waiting.delete(long.id);
  server.stdin.end();
  const [exitCode] = await exited;
  return { answered, asked, told: told.toSorted(), exitCode };
}

/** Without what is another at another time. */
const timeless = (message: object): string =>
  JSON.stringify(message, (name, value) => (name === "_meta" ? undefined : value))
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replaceAll(/\d{1,2}:\d\d:\d\d( [AP]M)?/g, "TIME")
    .replaceAll(/"notifications\/holdfire\/closing"/g, "CLOSING");

test(
  "server-everything",
  async () => {
    const bare = [process.execPath, SERVER, "stdio"];
    const mcp = [at("../../../src/cli/main.ts"), "mcp", "--store", join(newFolder(), "ledger.db")];
    const [without, through] = await Promise.all([
      transcript(bare),
      transcript([process.execPath, ...mcp, "--", ...bare]),
    ]);
    expect(without.answered).toHaveLength(STEPS.length + 2);
    expect(without.asked.length).toBeGreaterThanOrEqual(3);
    expect(without.told.join()).toContain("notifications/progress");
    const ours = through.told.filter((line) => line.includes("CLOSING"));
    expect({ ...through, told: through.told.filter((line) => !ours.includes(line)) }).toEqual(
      without,
    );
  },
  LONG_MS,
);
