/**
 * Whose calls belong together: the label given at install, the person at this machine, the server, and the
 * conversation where the host names it.
 *
 * @module
 */

import { digestText } from "../../key/digest.ts";
import { peek } from "../../lang/peek.ts";

export interface Whose {
  /** The label that was given at install. */
  readonly label: string;
  /** The user of the operating system. */
  readonly user: string;
  /** The server's name in the ledger. */
  readonly server: string;
}

const SHOWN = 40;
const DIGEST = 22;

/** The scope of its calls. The digest makes it exact; the rest is for people. */
export function threadOf({ label, user, server }: Whose, conversation: string | undefined): string {
  const digest = digestText("gateway-thread", label, user, server, conversation);
  const shown = [label, user, server].map(readable).join("/");
  return `mcp/${shown}/${digest.slice(0, DIGEST)}`;
}

const readable = (text: string): string =>
  text.replaceAll(/[^\w.@-]/gu, "_").slice(0, SHOWN) || "_";

/** Where hosts say which conversation a call belongs to. There is no standard. */
const CONVERSATION = [
  "dev.holdfire/conversation",
  "conversationId",
  "conversation_id",
  "threadId",
  "thread_id",
];
const LONGEST = 512;

export function conversationOf(meta: unknown): string | undefined {
  for (const name of CONVERSATION) {
    const value = peek(meta, name);
    if (typeof value === "string" && value !== "" && value.length <= LONGEST) return value;
  }
  return undefined;
}
