/**
 * What is known of a server's tools: each as it was listed first, and as it was listed last.
 *
 * The list is asked for again when the server says that it has changed, when it has grown old, and once a person
 * has said yes.
 *
 * @module
 */

import { isMethodNotFound } from "../../classify/mcp.ts";
import { canonicalize } from "../../key/canonical.ts";
import { digestText } from "../../key/digest.ts";
import type { Json } from "../../key/json.ts";
import { peek } from "../../lang/peek.ts";
import { runWithoutToken } from "../../wire/token.ts";
import { describe } from "../shared/tools/guard-function.ts";
import { keyPropertyOf, withoutProperty } from "../shared/tools/hidden-key.ts";
import { watchTransport } from "./before-send.ts";
import { listAllTools, type McpClient, type McpTool, toolsIn, transportOf } from "./sdk.ts";

export interface Known {
  readonly tool: McpTool | undefined;
  /** Of its definition; `undefined` if it is in no list, or cannot be compared. */
  readonly digest: string | undefined;
  readonly changed: boolean;
  /** The server has listed its tools, and this is none of them. */
  readonly unlisted?: boolean | undefined;
  /** Why nothing is known of any tool. */
  readonly failed?: { readonly error: unknown } | undefined;
}

export interface Listing {
  /** What is known of a tool, asked anew if need be. */
  find(name: string): Promise<Known>;
  /** The same, asked anew in any case: not every server says that its list has changed. */
  findNow(name: string): Promise<Known>;
  /** All tools of the last list. */
  all(): readonly McpTool[];
  /** Takes in a list that the user asked for, and gives it back as a model may see it. */
  show(listed: unknown): unknown;
}

export interface ListingOptions {
  /** How long a list is good for, in milliseconds. */
  readonly goodForMs: number;
  /** Milliseconds that only go forward. */
  readonly now: () => number;
  /** What a tool also does, as the user says. */
  readonly alsoDoes: (name: string) => readonly string[] | undefined;
}

interface Entry {
  readonly tool: McpTool;
  readonly digest: string | undefined;
  readonly first: string | undefined;
  readonly changed: boolean;
}

const MAX_TOOLS = 10_000;
const MAX_DESCRIPTION = 2_000;
const LIST_TIMEOUT_MS = 10_000;
const LIST_CHANGED = "notifications/tools/list_changed";

export function createListing(client: McpClient, options: ListingOptions): Listing {
  const { goodForMs, now, alsoDoes } = options;
  const entries = new Map<string, Entry>();
  const heard = new WeakSet<object>();
  /** The names of the last list; `undefined` until there is a whole one. */
  let listed: Set<string> | undefined;
  let askedAt: number | undefined;
  let asking: Promise<void> | undefined;

  function take(tools: readonly McpTool[]): void {
    for (const tool of tools) {
      const known = entries.get(tool.name);
      if (!known && entries.size >= MAX_TOOLS) return;
      const digest = digestOf(tool);
      const first = known ? known.first : digest;
      // Once changed, always changed: going back does not give back what was agreed to.
      const changed = known?.changed === true || digest === undefined || digest !== first;
      entries.set(tool.name, { tool, digest, first, changed });
    }
  }

  /** Listens beside the client's own handler of notifications. */
  function listen(): void {
    const transport = transportOf(client) as
      | { onmessage?: (message: unknown, extra?: unknown) => void }
      | undefined;
    if (typeof transport !== "object" || transport === null || heard.has(transport)) return;
    watchTransport(transport);
    const { onmessage } = transport;
    if (typeof onmessage !== "function") return;
    heard.add(transport);
    transport.onmessage = (message, extra) => {
      if (peek(message, "method") === LIST_CHANGED) askedAt = undefined;
      onmessage.call(transport, message, extra);
    };
  }

  async function ask(): Promise<void> {
    const at = now();
    // Set before the answer: a change that is announced meanwhile makes it old again.
    askedAt = at;
    try {
      // To read the list is not part of any attempt.
      const { tools, isWhole } = await runWithoutToken(() => listAllTools(client, LIST_TIMEOUT_MS));
      take(tools);
      listed = isWhole ? new Set(tools.map(({ name }) => name)) : undefined;
    } catch (error) {
      if (isMethodNotFound(error)) {
        listed = undefined;
        return;
      }
      askedAt = undefined;
      throw error;
    }
  }

  async function known(name: string, asked: Promise<void> | undefined): Promise<Known> {
    let failed: Known["failed"];
    try {
      await asked;
    } catch (error) {
      failed = { error };
    }
    const { tool, digest, changed = false } = entries.get(name) ?? {};
    const unlisted = !failed && listed !== undefined && !listed.has(name);
    return { tool, digest, changed, unlisted, failed };
  }

  return {
    find(name) {
      listen();
      if (askedAt === undefined || now() - askedAt >= goodForMs) {
        asking ??= ask().finally(() => {
          asking = undefined;
        });
      }
      return known(name, asking);
    },
    findNow(name) {
      listen();
      return known(name, ask());
    },
    all: () =>
      [...entries.values()].map(({ tool }) => tool).filter(({ name }) => listed?.has(name) ?? true),
    show(page) {
      listen();
      const tools = toolsIn(page);
      take(tools);
      for (const { name } of tools) listed?.add(name);
      return {
        ...(page as object),
        tools: tools.map((tool) => shown(tool, alsoDoes(tool.name))),
      };
    },
  };
}

/** A tool as a model sees it: without the key, which is ours to fill. */
function shown(tool: McpTool, alsoDoes: readonly string[] | undefined): McpTool {
  const property = keyPropertyOf(tool.inputSchema);
  const description = describe(tool.description, alsoDoes);
  return {
    ...tool,
    ...(description === undefined ? {} : { description }),
    ...(property === undefined || !tool.inputSchema
      ? {}
      : { inputSchema: withoutProperty(tool.inputSchema, property) }),
  };
}

/** What a person is shown of a definition. The digest stands for all of it; for one that has none, `call` does. */
export function definitionOf({ tool, digest }: Known, call: string): Json {
  if (!tool) return null;
  const { description } = tool;
  const text = typeof description === "string" ? description : "";
  const isCut = text.length > MAX_DESCRIPTION;
  return {
    // By way of bytes: a character that was cut in two is none.
    description: `${Buffer.from(text.slice(0, MAX_DESCRIPTION))}${isCut ? "…" : ""}`,
    digest: digest ?? call,
  };
}

/** Everything by which a tool is chosen and called; `undefined` if it cannot be compared. */
function digestOf(tool: McpTool): string | undefined {
  const { name, description, inputSchema, annotations } = tool;
  const outputSchema = peek(tool, "outputSchema");
  try {
    const definition = { name, description, inputSchema, outputSchema, annotations };
    const { text } = canonicalize(JSON.parse(JSON.stringify(definition)), "definition");
    return digestText("mcp-tool", text);
  } catch {
    return undefined;
  }
}
