/**
 * What the protocol wants in the headers of a request, beside its body.
 *
 * Until 2025-11-25 that is the session and the revision that were agreed at the start. From 2026-07-28 on each request
 * says its own revision, and headers repeat what is asked for, so that what stands between can route it.
 *
 * @module
 */

import { fieldsOf, type Message } from "./message.ts";
import { headerText, type ParamHeaders } from "./param-headers.ts";

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
