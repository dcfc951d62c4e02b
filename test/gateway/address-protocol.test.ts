/** What the protocol wants of a client over HTTP: sessions, streams that break, headers, authorization. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { headersOf } from "../../src/cli/mcp/choices.ts";
import { createParamHeaders } from "../../src/gateway/pipe/address-headers.ts";
import { connectServer } from "../../src/gateway/pipe/server-address.ts";
import { systemClock } from "../../src/lang/clock.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { newWorld, PATIENT, startHost } from "./world.ts";

const newFolder = temporaryFolder();

interface Asked {
  readonly method: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: { id?: unknown; method?: string; params?: Record<string, unknown> };
}

type Answer = (asked: Asked, response: ServerResponse, request: IncomingMessage) => unknown;

/** A server that says what each test wants said, and the requests that reached it. */
async function serverThat(answer: Answer) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const { method = "", headers } = request;
    const one = { method, headers, body: text ? JSON.parse(text) : {} };
    asked.push(one);
    answer(one, response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  return { url, asked, calls: () => asked.filter(({ body }) => body.method === "tools/call") };
}

const json = (response: ServerResponse, id: unknown, result: object, headers: object = {}) =>
  response
    .writeHead(200, { "content-type": "application/json", ...headers })
    .end(JSON.stringify({ jsonrpc: "2.0", id, result }));

const TOOLS = [{ name: "pay", inputSchema: { type: "object" }, annotations: {} }];
const SESSION = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: {} };
const call = { name: "pay", arguments: { id: "p1" } };
const MODERN = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
const DONE = { content: [{ type: "text", text: "done" }] };

const startAt = (url: URL, headers: Record<string, string> = {}) => {
  const how = { fetch, maxMessageBytes: 1_000_000, clock: systemClock, log: () => {} };
  const upstream = connectServer({ url, headers, ...how });
  return startHost(newWorld(newFolder()), { raw: true, upstream });
};

const wordsIn = (answer: unknown): { message: string; outcome: string } =>
  JSON.parse((answer as { result: { content: { text: string }[] } }).result.content[0]?.text ?? "");

test("the rest of a stream that ended before the answer is asked for, and the call is posted once", async () => {
  let id: unknown;
  const { url, asked, calls } = await serverThat(({ method, headers, body }, response) => {
    if (body.method === "tools/list") return json(response, body.id, { tools: TOOLS });
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (method === "POST") {
      ({ id } = body);
      return response.end("id: e1\nretry: 1\ndata:\n\n");
    }
    // The first time it has no more to say yet.
    if (headers["last-event-id"] === "e1") return response.end("id: e2\ndata:\n\n");
    response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: DONE })}\n\n`);
  });
  const host = await startAt(url);
  expect(await host.request("tools/call", call)).toMatchObject({ result: DONE });
  expect(calls()).toHaveLength(1);
  const resumed = asked.filter(({ method }) => method === "GET");
  expect(resumed.map(({ headers }) => headers["last-event-id"])).toEqual(["e1", "e2"]);
});

test("a session that the server has ended is begun anew; what only asks is asked again, a call is not", async () => {
  let sessions = 0;
  let lostAt: string | undefined;
  const { url, asked, calls } = await serverThat(({ method, headers, body }, response) => {
    if (body.method === "initialize") {
      sessions += 1;
      lostAt = undefined;
      return json(response, body.id, SESSION, { "mcp-session-id": `s${sessions}` });
    }
    if (method !== "POST") return response.writeHead(405).end();
    if (body.method === lostAt || headers["mcp-session-id"] !== `s${sessions}`)
      return response.writeHead(404).end();
    if (body.id === undefined) return response.writeHead(202).end();
    json(response, body.id, body.method === "tools/list" ? { tools: TOOLS } : DONE);
  });
  const host = await startAt(url);
  await host.request("initialize", { ...SESSION, clientInfo: {} });
  host.write('{"jsonrpc":"2.0","method":"notifications/initialized"}');
  await host.request("tools/list");
  lostAt = "tools/list";
  expect(await host.request("tools/list")).toMatchObject({ result: { tools: expect.anything() } });
  expect(sessions).toBe(2);
  lostAt = "tools/call";
  expect(wordsIn(await host.request("tools/call", call))).toMatchObject({ outcome: "unknown" });
  expect(sessions).toBe(3);
  expect(calls()).toHaveLength(1);
  const first = asked.filter(({ body }) => body.method === "initialize");
  expect(first.map(({ headers }) => headers["mcp-session-id"])).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  const { headers } = asked.findLast(({ body }) => body.method === "tools/list") ?? {};
  expect(headers).toMatchObject({ "mcp-session-id": "s2", "mcp-protocol-version": "2025-11-25" });
  // The host has had the answer to its own initialize, and no other.
  expect(host.lines.filter((line) => line.includes("serverInfo"))).toHaveLength(1);
  await host.end();
  expect(asked.at(-1)).toMatchObject({ method: "DELETE", headers: { "mcp-session-id": "s3" } });
});

test("a session that could not be begun anew at once is begun anew later", async () => {
  let isDown = false;
  let sessions = 0;
  const { url } = await serverThat(({ method, headers, body }, response) => {
    if (body.method === "initialize") {
      if (isDown) return response.writeHead(503).end();
      sessions += 1;
      return json(response, body.id, SESSION, { "mcp-session-id": `s${sessions}` });
    }
    if (method !== "POST") return response.writeHead(405).end();
    if (isDown || headers["mcp-session-id"] !== `s${sessions}`)
      return response.writeHead(404).end();
    if (body.id === undefined) return response.writeHead(202).end();
    json(response, body.id, { tools: TOOLS });
  });
  const host = await startAt(url);
  await host.request("initialize", { ...SESSION, clientInfo: {} });
  isDown = true;
  expect(await host.request("tools/list")).toMatchObject({ error: expect.anything() });
  isDown = false;
  sessions += 1;
  expect(await host.request("tools/list")).toMatchObject({ result: { tools: expect.anything() } });
});

test("a server that wants a login: the error says what to do, and what the server has asked for", async () => {
  const challenge = 'Bearer resource_metadata="https://login.example/x", scope="pay"';
  const { url } = await serverThat(({ body }, response) => {
    if (body.method === "tools/list") return json(response, body.id, { tools: TOOLS });
    response.writeHead(401, { "www-authenticate": challenge }).end("<html>");
  });
  const host = await startAt(url);
  const { error } = (await host.request("prompts/list")) as { error: { message: string } };
  expect(error).toMatchObject({ code: -32000, data: { status: 401, challenge } });
  expect(error.message).toContain('--header "Authorization: Bearer $NAME_OF_IT"');
  const { message, outcome } = wordsIn(await host.request("tools/call", call));
  expect(outcome).toBe("not_applied");
  expect(message).toContain("environment variable");
  expect(message).toContain(challenge);
});

test("a redirect is followed on the same origin alone, and a token goes nowhere else", async () => {
  const other = await serverThat((_, response) => response.end());
  const { url, asked } = await serverThat(({ body }, response, { url: path }) => {
    if (path === "/moved") return json(response, body.id, {});
    const location = body.method === "ping" ? "/moved" : `${other.url.href}?secret=1`;
    response.writeHead(307, { location }).end();
  });
  const host = await startAt(url, { authorization: "Bearer t" });
  const { error } = (await host.request("prompts/list")) as { error: { message: string } };
  expect(error.message).toContain(`${other.url.href}. Give that to --url`);
  expect(error.message).not.toContain("secret");
  expect(other.asked).toEqual([]);
  expect(await host.request("ping")).toMatchObject({ result: {} });
  expect(asked).toHaveLength(3);
  // Where it has moved to is remembered.
  expect(await host.request("ping")).toMatchObject({ result: {} });
  expect(asked).toHaveLength(4);
});

test("2026-07-28: what is asked for stands in the headers, and the end of its stream cancels a call", async () => {
  const properties = { region: { type: "string", "x-mcp-header": "Region" } };
  const tools = [
    { name: "päy", inputSchema: { type: "object", properties } },
    {
      name: "broken",
      inputSchema: { type: "object", properties: { a: { type: "string", "x-mcp-header": "a b" } } },
    },
  ];
  let hasEnded = false;
  const { url, asked, calls } = await serverThat(({ body }, response) => {
    if (body.method === "tools/list") return json(response, body.id, { tools });
    response.on("close", () => {
      hasEnded = true;
    });
  });
  const host = await startAt(url);
  const listed = await host.request("tools/list", { _meta: MODERN });
  // One that cannot be called as the server wants it is left out.
  expect(JSON.stringify(listed)).not.toContain("broken");
  const params = { name: "päy", arguments: { region: " eu" }, _meta: MODERN };
  host.write(JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params }));
  await expect.poll(calls, PATIENT).toHaveLength(1);
  expect(calls()[0]?.headers).toMatchObject({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": `=?base64?${Buffer.from("päy").toString("base64")}?=`,
    "mcp-param-region": `=?base64?${Buffer.from(" eu").toString("base64")}?=`,
  });
  host.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}');
  await expect.poll(() => hasEnded, PATIENT).toBe(true);
  expect(asked.map(({ body }) => body.method)).not.toContain("notifications/cancelled");
  // It may have happened all the same.
  const statuses = async () => (await host.hf.operations.list()).items.map(({ status }) => status);
  await expect.poll(statuses, PATIENT).toEqual(["unknown"]);
  await host.end();
  expect(host.lines.filter((line) => JSON.parse(line).id === 7)).toEqual([]);
});

test("headers of arguments: what may be declared, and where it is found", () => {
  const { admit, headersFor } = createParamHeaders(() => {});
  const tool = (schema: object) => ({ name: "t", inputSchema: { type: "object", ...schema } });
  const header = (name: unknown, type = "string") => ({ type, "x-mcp-header": name });
  const refused = [
    { properties: { a: header("") } },
    { properties: { a: header("a:b") } },
    { properties: { a: header("a", "object") } },
    { properties: { a: header("a", "number") } },
    { properties: { a: header("A"), b: header("a") } },
    { properties: { a: { type: "array", items: header("a") } } },
    { anyOf: [{ properties: { a: header("a") } }] },
  ];
  for (const schema of refused) expect(admit([tool(schema)])).toEqual([]);
  const nested = { type: "object", properties: { n: header("N", "integer") } };
  const fine = tool({
    properties: {
      s: header("S"),
      b: header("B", "boolean"),
      o: nested,
      plain: { default: header(1) },
    },
  });
  expect(admit([fine])).toEqual([fine]);
  const args = { s: "", b: false, o: { n: 3 }, plain: "x" };
  expect(headersFor({ name: "t", arguments: args })).toEqual({
    "mcp-param-S": "=?base64??=",
    "mcp-param-B": "false",
    "mcp-param-N": "3",
  });
  expect(headersFor({ name: "t", arguments: { s: null, o: { n: 0.5 } } })).toEqual({});
  expect(headersFor({ name: "other", arguments: args })).toEqual({});
});

test("a header takes its secret from the environment, and a variable that is not set is an error", () => {
  const given = ["Authorization: Bearer $TOKEN", "X-Other: a:b"];
  expect(headersOf(given, { TOKEN: "t" })).toEqual({ Authorization: "Bearer t", "X-Other": "a:b" });
  expect(() => headersOf(given, { TOKEN: "" })).toThrow("TOKEN, which is not set");
});
