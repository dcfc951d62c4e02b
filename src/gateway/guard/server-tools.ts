/**
 * What is known of the server's tools: the guard's own list, fed by what passes through, and asked for anew when the
 * server says that it has changed.
 *
 * @module
 */

import { createListing, type Listing } from "../../integrations/mcp/listing.ts";
import { systemClock, withTimeLimit } from "../../lang/clock.ts";
import { type Fields, type Message, plainOf } from "../pipe/message.ts";
import type { OwnRequests } from "../pipe/own-requests.ts";

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
