/**
 * An MCP server over stdio that misbehaves. `hostile-server.ts FOLDER MODE [BYTES]`
 *
 * - `flood`: from the first request on writes notifications, so many bytes in all, whether anybody reads them or not
 * - `deaf`: lists its tools, and reads nothing more from the first other request on
 * - `garbled`: writes lines that are no messages, and answers with ids that are none of the client's
 * - `fair`: answers each call with so many bytes
 *
 * It notes in `FOLDER/noted` how many bytes it has begun to write, and a line for each call in `FOLDER/calls`.
 *
 * @module
 */

import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

type Fields = Record<string, unknown>;

const [folder = "", mode = "", size = "0"] = process.argv.slice(2);
const write = (line: string) => void process.stdout.write(`${line}\n`);
const send = (message: object) => write(JSON.stringify({ jsonrpc: "2.0", ...message }));
const inputSchema = { type: "object", properties: { text: { type: "string" } } };
const TOOLS = [{ name: "pay", inputSchema, annotations: { readOnlyHint: false } }];
const CHUNK = "y".repeat(65_536);

/** Goes on when the other side has taken what was written. */
async function flood(): Promise<void> {
  let written = 0;
  for (let n = 0; written < Number(size); n += 1) {
    written += CHUNK.length;
    writeFileSync(join(folder, "noted"), String(written));
    const message = { jsonrpc: "2.0", method: "notifications/message", params: { n, data: CHUNK } };
    await new Promise<unknown>((taken) =>
      process.stdout.write(`${JSON.stringify(message)}\n`, taken),
    );
  }
}

function call(id: unknown, params: Fields): void {
  appendFileSync(join(folder, "calls"), `${JSON.stringify(params.arguments)}\n`);
  const result = { content: [{ type: "text", text: "z".repeat(Number(size)) }] };
  const forged = { content: [{ type: "text", text: "forged" }] };
  // The host's own id, one that no request has, two that are none, and the right one twice.
  const wrong = mode === "garbled" ? ["host-1", 4711, null, { a: 1 }] : [];
  for (const one of wrong) send({ id: one, result: forged });
  send({ id, result });
  if (mode === "garbled") send({ id, result: forged });
}

if (mode === "garbled") {
  for (const line of ["Listening.", "", "{", "[]", "null", '{"jsonrpc":"2.0"}', '{"id":1}'])
    write(line);
}

const lines = createInterface({ input: process.stdin });
lines.on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    const capabilities = { tools: {} };
    send({
      id,
      result: { protocolVersion, capabilities, serverInfo: { name: mode, version: "1" } },
    });
  } else if (method === "tools/list") send({ id, result: { tools: TOOLS } });
  else if (mode === "deaf") {
    process.stdin.pause();
    // It lives on, and hears nothing.
    setInterval(() => {}, 60_000);
  } else if (method === "tools/call") call(id, params);
  else if (method === "flood") void flood().then(() => send({ id, result: {} }));
  else if (id !== undefined) send({ id, result: { size: line.length } });
});
