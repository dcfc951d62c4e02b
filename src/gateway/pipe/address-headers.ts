/**
 * What the protocol wants in the headers of a request, beside its body.
 *
 * Until 2025-11-25 that is the session and the revision that were agreed at the start. From 2026-07-28 on each request
 * says its own revision, and headers repeat what is asked for, so that what stands between can route it: also arguments
 * of a tool whose input schema says so with `x-mcp-header`, and a call without them is refused.
 *
 * @module
 */

import { type Fields, fieldsOf, type Message } from "./message.ts";

const VERSION = "io.modelcontextprotocol/protocolVersion";

/** What names the thing that is asked for. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** What was agreed with the server at the start. */
export interface Session {
  id?: string | undefined;
  revision?: string | undefined;
}

/** The revision that a message itself says; then there is no session, and nothing of a stream can be asked for again. */
export function ownRevision(message: Message): string | undefined {
  const params = "params" in message ? message.params : {};
  const own = fieldsOf(params._meta)[VERSION];
  return typeof own === "string" ? own : undefined;
}

export function protocolHeaders(
  message: Message,
  { id, revision }: Session,
  params: ParamHeaders,
): Record<string, string> {
  const own = ownRevision(message);
  if (own === undefined) {
    const isFirst = message.kind === "request" && message.method === "initialize";
    return {
      ...(id === undefined || isFirst ? {} : { "mcp-session-id": id }),
      ...(revision === undefined || isFirst ? {} : { "mcp-protocol-version": revision }),
    };
  }
  if (message.kind !== "request") return { "mcp-protocol-version": own };
  const field = Object.hasOwn(NAMED_BY, message.method) ? NAMED_BY[message.method] : undefined;
  const name = field === undefined ? undefined : message.params[field];
  return {
    "mcp-protocol-version": own,
    "mcp-method": headerText(message.method),
    ...(typeof name === "string" ? { "mcp-name": headerText(name) } : {}),
    ...(message.method === "tools/call" ? params.headersFor(message.params) : {}),
  };
}

interface ParamHeaders {
  /** The tools of a list that may be called; what they want in headers is remembered. */
  admit(tools: readonly unknown[]): readonly unknown[];
  /** For a call with these parameters. */
  headersFor(call: Fields): Record<string, string>;
}

interface Declared {
  readonly header: string;
  readonly path: readonly string[];
}

const MAX_TOOLS = 10_000;
const MAX_DEPTH = 64;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/;
const TYPES = new Set<unknown>(["string", "integer", "boolean"]);

export function createParamHeaders(log: (line: string) => void): ParamHeaders {
  const known = new Map<string, readonly Declared[]>();
  return {
    admit: (tools) =>
      tools.filter((tool) => {
        const { name, inputSchema } = fieldsOf(tool);
        const found = declaredIn(inputSchema);
        const isKnown = known.has(String(name));
        if (found && (isKnown || (found.length > 0 && known.size < MAX_TOOLS))) {
          known.set(String(name), found);
        }
        // The protocol wants it left out: its calls could not be made as the server expects them.
        if (!found)
          log(`The tool ${JSON.stringify(name)} is left out: its x-mcp-header is invalid.`);
        return found !== undefined;
      }),
    headersFor({ name, arguments: args }) {
      const declared = known.get(String(name)) ?? [];
      const pairs = declared.map(({ header, path }) => [`mcp-param-${header}`, textAt(args, path)]);
      return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
    },
  };
}

/** What a schema declares; `undefined` if it does so in a way that the protocol does not allow. */
function declaredIn(schema: unknown): readonly Declared[] | undefined {
  const found: Declared[] = [];
  const isValid = walk(schema, [], true, found);
  const names = new Set(found.map(({ header }) => header.toLowerCase()));
  return isValid && names.size === found.length ? found : undefined;
}

/** Only a property that is reached by properties alone can be found in the arguments. */
function walk(
  schema: unknown,
  path: readonly string[],
  isReached: boolean,
  found: Declared[],
): boolean {
  if (typeof schema !== "object" || schema === null || path.length > MAX_DEPTH) return true;
  const { properties, ...rest } = schema as Fields;
  const header = Array.isArray(schema) ? undefined : rest["x-mcp-header"];
  if (header !== undefined) {
    if (!isReached || path.length === 0 || !TYPES.has(rest.type)) return false;
    if (typeof header !== "string" || !TOKEN.test(header)) return false;
    found.push({ header, path });
  }
  const inside = Object.entries(fieldsOf(properties));
  return (
    inside.every(([name, one]) => walk(one, [...path, name], isReached, found)) &&
    Object.entries(rest).every(
      ([name, one]) => DATA.has(name) || walk(one, [...path, name], false, found),
    )
  );
}

/** Keywords whose value is no schema, whatever is in it. */
const DATA = new Set(["const", "default", "enum", "examples"]);

function textAt(args: unknown, path: readonly string[]): string | undefined {
  let value = args;
  for (const name of path) {
    const fields = fieldsOf(value);
    value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  }
  const isWhole = typeof value !== "number" || Number.isSafeInteger(value);
  if (!isWhole || !["string", "number", "boolean"].includes(typeof value)) return undefined;
  return headerText(String(value));
}

/** As the protocol writes what a header cannot hold. */
const headerText = (text: string): string =>
  /^[\x21-\x7e]+( +[\x21-\x7e]+)*$/.test(text) && !text.startsWith("=?")
    ? text
    : `=?base64?${Buffer.from(text).toString("base64")}?=`;
