/**
 * An MCP server over stdio that notes each effect as a line in a file, for both revisions of the protocol. Written
 * without an SDK: it starts fast, and does what no SDK would let it do. `noting-server.ts FILE`
 *
 * @module
 */

import { appendFileSync, existsSync, readFileSync, watch } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

type Fields = Record<string, unknown>;

const [file = "", idempotency] = process.argv.slice(2);
const send = (message: object) => void process.stdout.write(`${JSON.stringify(message)}\n`);
// The gateway was killed.
process.stdout.on("error", () => process.exit());
const text = { type: "object", properties: { text: { type: "string" } } };
const info = { name: "noting", version: "1.0.0" };
const capabilities = {
  tools: { listChanged: true, ...(idempotency ? { idempotency: {} } : {}) },
  resources: {},
  logging: {},
};
let description = "Notes a text.";

const tools = () => [
  { name: "note", description, inputSchema: text },
  { name: "pay", description, inputSchema: text, annotations: { readOnlyHint: false } },
  { name: "wipe", description, inputSchema: text, annotations: { destructiveHint: true } },
  { name: "look", description: "Reads.", inputSchema: text, annotations: { readOnlyHint: true } },
  { name: "list_notes", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
  {
    name: "keyed",
    description,
    inputSchema: {
      type: "object",
      properties: { text: { type: "string" }, idempotency_key: { type: "string" } },
      required: ["idempotency_key"],
    },
  },
];

const notes = (): Fields[] =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];

/** Resolves when the file is there. */
function fileAt(path: string): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!existsSync(path)) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(dirname(path), look);
    look();
  });
}

async function call(id: unknown, params: Fields): Promise<unknown> {
  const { name } = params;
  const args = (params.arguments ?? {}) as Fields;
  const meta = (params._meta ?? {}) as Fields;
  const isStateless = meta["io.modelcontextprotocol/protocolVersion"] !== undefined;
  const more = isStateless ? { resultType: "complete" } : {};
  const answer = (result: object) => send({ jsonrpc: "2.0", id, result: { ...more, ...result } });
  const say = (said: string) => answer({ content: [{ type: "text", text: said }] });
  if (name === "list_notes") {
    const list = notes().map(({ key, args: given, madeAt }, at) => ({
      reference: key,
      id: `n${at}`,
      given,
      madeAt,
    }));
    return answer({ content: [], structuredContent: { data: list } });
  }
  if (args.ask && params.inputResponses === undefined) {
    const form = { message: "Really?", requestedSchema: { type: "object", properties: {} } };
    return answer({
      resultType: "input_required",
      inputRequests: {
        really: { method: "elicitation/create", params: { mode: "form", ...form } },
      },
      requestState: "server-state",
    });
  }
  if (args.nothing) return answer({ content: [{ type: "text", text: "no" }], isError: true });
  const key = meta["dev.holdfire/idempotency-key"];
  const { idempotencyKey: draft, requestState: state } = params;
  const madeAt = args.named ? new Date() : undefined;
  appendFileSync(file, `${JSON.stringify({ name, args, key, draft, state, madeAt })}\n`);
  if (args.die) process.exit(3);
  if (args.hang) return;
  if (typeof args.until === "string") await fileAt(args.until);
  if (args.progress) {
    const { progressToken } = meta;
    send({
      jsonrpc: "2.0",
      method: "notifications/progress",
      params: { progressToken, progress: 1 },
    });
  }
  if (args.change) {
    description = "Does something else.";
    send({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  }
  if (args.fail === "error") {
    return send({ jsonrpc: "2.0", id, error: { code: -32000, message: "broken", data: 7 } });
  }
  if (args.fail) return answer({ content: [{ type: "text", text: "no" }], isError: true });
  if (args.task) return answer({ task: { taskId: "t1", status: "working" } });
  if (args.named) {
    return answer({ content: [], structuredContent: { id: `n${notes().length - 1}` } });
  }
  if (args.big) return say("x".repeat(Number(args.big)));
  say(`noted ${args.text}, ${notes().length} in all`);
}

function answerTo({ id, method, params = {} }: Fields & { params?: Fields }): unknown {
  const result = (given: object) => send({ jsonrpc: "2.0", id, result: given });
  switch (method) {
    case "initialize":
      return result({
        protocolVersion: params.protocolVersion,
        capabilities,
        serverInfo: info,
        // For who wants to kill it.
        instructions: String(process.pid),
      });
    case "server/discover":
      return result({
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities,
        serverInfo: info,
        ttlMs: 0,
        cacheScope: "public",
      });
    case "tools/list":
      return result({ resultType: "complete", tools: tools(), ttlMs: 0, cacheScope: "public" });
    case "tools/call":
      return call(id, params);
    case "tasks/get": {
      const path = `${file}.task`;
      const status = existsSync(path) ? readFileSync(path, "utf8") : "working";
      return result({ resultType: "complete", taskId: params.taskId, status });
    }
    case "ping":
      return result({});
    case "echo":
      return result({ params });
    case "flood":
      return process.stdout.write(`${"y".repeat(Number(params.bytes))}\n`);
    default:
      if (id !== undefined) send({ jsonrpc: "2.0", id, error: { code: -32601, message: "none" } });
  }
}

const cancelled = (params: Fields) =>
  appendFileSync(`${file}.cancelled`, `${JSON.stringify(params)}\n`);

createInterface({ input: process.stdin }).on("line", (line) => {
  let message: Fields;
  try {
    message = JSON.parse(line);
  } catch {
    send({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "no JSON" } });
    return;
  }
  if (message.method === "notifications/cancelled") cancelled(message.params as Fields);
  answerTo(message as Fields & { params?: Fields });
});
