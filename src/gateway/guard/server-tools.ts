/**
 * What is known of the server: its tools, in the guard's own list, fed by what passes through and asked for anew when the
 * server says that it has changed; and what it says it can do, read from its answers to the host.
 *
 * @module
 */

import { createListing, type Listing } from "../../integrations/mcp/listing.ts";
import { systemClock, withTimeLimit } from "../../lang/clock.ts";
import { peek } from "../../lang/peek.ts";
import {
  type Answer,
  answerText,
  type Fields,
  fieldsOf,
  type Id,
  type Message,
  plainOf,
} from "../pipe/message.ts";
import type { OwnRequests } from "../pipe/own-requests.ts";
import type { OwnTools } from "./own-tools.ts";

export interface ServerTools extends Listing {
  /** A message of the server, for what it says of its tools. */
  heard(message: Message): void;
}

export interface ServerToolsOptions {
  readonly toServer: OwnRequests;
  /** What every request of this host carries in its `_meta`. */
  readonly envelope: () => Fields;
  readonly alsoDoes: (name: string) => readonly string[] | undefined;
  readonly now: () => number;
}

const LIST_MS = 10_000;
/** A server that does not say when its list changes is asked this often, by the next call. */
const GOOD_FOR_MS = 600_000;

export function serverTools({
  toServer,
  envelope,
  alsoDoes,
  now,
}: ServerToolsOptions): ServerTools {
  const transport: { onmessage?: (message: unknown) => void } = { onmessage: () => {} };
  const client = {
    transport,
    callTool: () => Promise.reject(new Error("Only its list is asked for.")),
    async listTools(params?: object): Promise<unknown> {
      const asked = toServer.ask("tools/list", { ...params, _meta: envelope() });
      const inTime = await withTimeLimit(systemClock, LIST_MS, asked);
      if (inTime.tag === "failed") throw inTime.error;
      if (inTime.tag === "late") throw new Error("The server did not list its tools in time.");
      const { result, error } = inTime.value;
      if (error !== undefined) throw error;
      return plainOf(result);
    },
  };
  const listing = createListing(client, { goodForMs: GOOD_FOR_MS, now, alsoDoes });
  return {
    ...listing,
    heard: (message) => {
      if (message.kind === "notification") transport.onmessage?.({ method: message.method });
    },
  };
}

interface ServerAnswers {
  /** The host has sent this request. */
  expect(id: Id, method: string): void;
  /** What the host gets in its place; `undefined`: the answer as it is. */
  changed(id: Id, answer: Answer): string | undefined;
  /** The server says that it has the draft field for the key. */
  hasKeyField(): boolean;
}

const METHODS = new Set(["tools/list", "initialize", "server/discover"]);

export function serverAnswers(tools: ServerTools, own: OwnTools): ServerAnswers {
  const expected = new Map<Id, string>();
  let hasKeyField = false;

  function listed(id: Id, result: unknown): string {
    const shown = fieldsOf(tools.show(result));
    const isLast = typeof shown.nextCursor !== "string" || shown.nextCursor === "";
    const all = isLast ? own.addTo(shown.tools as readonly object[]) : shown.tools;
    return answerText(id, { result: { ...shown, tools: all } });
  }

  return {
    expect(id, method) {
      if (METHODS.has(method)) expected.set(id, method);
    },
    changed(id, { result }) {
      const method = expected.get(id);
      expected.delete(id);
      if (method === undefined || result === undefined) return undefined;
      if (method === "tools/list") return listed(id, result);
      hasKeyField = Boolean(peek(peek(peek(result, "capabilities"), "tools"), "idempotency"));
      return undefined;
    },
    hasKeyField: () => hasKeyField,
  };
}
