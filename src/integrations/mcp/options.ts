/**
 * What a user says when guarding an MCP client, and how a tool is treated by it.
 *
 * What the user says of a tool outranks the server's hints, which outrank the rule of `"*"`. Hints are the server's own
 * words: `readOnlyHint` lets each call through once, and is never a reason to call again; that a call may be repeated
 * counts if the user trusts the server by name.
 *
 * @module
 */

import type { IsErrorMeans } from "../../classify/mcp.ts";
import { checkOptions, oneOf } from "../../engine/define/check.ts";
import type { ToolKind } from "../../engine/define/definition.ts";
import { InvalidInputError } from "../../errors.ts";
import { ANY_TOOL, readRule, type ToolRules } from "../shared/tools/rules.ts";
import type { McpCall, McpTool } from "./sdk.ts";

/** What is said of one tool: the definition of `hf.tool` without `name`, `input` and `run`. */
export interface McpToolRules extends Omit<ToolRules, "kind"> {
  /** Outranks the server's hints. @default what the hints say */
  readonly kind?: ToolKind | undefined;
  /** What `isError: true` proves. @default "unknown" */
  readonly isErrorMeans?: IsErrorMeans | undefined;
  /** Whether a definition that changed since it was listed needs a person. @default "ask" */
  readonly changed?: "ask" | "allow" | undefined;
}

/** A value, or how it is found for one call: asked when the call is made. */
export type PerCall<T> = T | ((call: McpCall) => T | undefined);

export interface McpGuardOptions {
  /**
   * The server's name in the ledger, part of every operation's id: keep it when the server is renamed, and
   * give two servers that call themselves the same different ones.
   *
   * @default what the server calls itself
   */
  readonly server?: string | undefined;
  /**
   * Names of servers, as they call themselves, whose `idempotentHint` counts. The name is not checked: list servers
   * that you start yourself, or reach under an address you trust. @default []
   */
  readonly trust?: readonly string[] | undefined;
  /**
   * What you know of its tools, by their names: a kind, or an object. A kind given here outranks the server's hints.
   * A tool that says by its hints whether it writes needs no rule. `"*"` is the rule of all others; without it, a
   * call of one throws.
   */
  readonly tools?: Readonly<Record<string, ToolKind | McpToolRules>> | undefined;
  /** What `isError: true` proves, for all tools that do not say otherwise. @default "unknown" */
  readonly isErrorMeans?: IsErrorMeans | undefined;
  /** The request of a person or job that calls belong to. @default the scope around the call */
  readonly scope?: PerCall<string> | undefined;
  /** The conversation. With `messages` it makes the scope: a turn. */
  readonly thread?: PerCall<string> | undefined;
  /** Your own id of the request in the thread (a message id of your store), in place of what persons have said. */
  readonly turn?: PerCall<string> | undefined;
  /** The conversation so far, in any framework's form. */
  readonly messages?: ((call: McpCall) => unknown) | undefined;
  /** The model's id of a call; kept beside the operation, never part of a key. */
  readonly toolCallId?: ((call: McpCall) => string | undefined) | undefined;
  /** What `content` holds when it is done: the envelope, or the tool's own. @default "envelope" */
  readonly reply?: "envelope" | "result" | undefined;
  /** How long a list of tools is good for, in milliseconds. @default 60_000 */
  readonly relistMs?: number | undefined;
  /** How long a result that comes late is waited for, in milliseconds. @default 300_000 */
  readonly lateMs?: number | undefined;
}

const NAMES: readonly (keyof McpGuardOptions)[] = [
  "server",
  "trust",
  "tools",
  "isErrorMeans",
  "scope",
  "thread",
  "turn",
  "messages",
  "toolCallId",
  "reply",
  "relistMs",
  "lateMs",
];

export function checkGuardOptions(options: McpGuardOptions): void {
  checkOptions(options, NAMES, "options");
  const { isErrorMeans, reply, trust } = options;
  oneOf(isErrorMeans, [undefined, "unknown", "rejected", "refused"], "options.isErrorMeans");
  oneOf(reply, [undefined, "envelope", "result"], "options.reply");
  if (trust !== undefined && !Array.isArray(trust)) {
    throw new InvalidInputError("options.trust", "must list names of servers.");
  }
}

/** The rules by the names of tools, in full. `own`: without that of `"*"`. */
export interface McpRules {
  readonly of: (name: string) => McpToolRules;
  readonly own: (name: string) => McpToolRules | undefined;
  readonly others: McpToolRules | undefined;
}

export function readMcpRules({ tools = {} }: McpGuardOptions): McpRules {
  const found = new Map(
    Object.entries(tools).map(([name, rule]) => {
      // The hints may say the kind.
      const isPartial = typeof rule === "object" && rule !== null && rule.kind === undefined;
      return [name, isPartial ? rule : readRule(rule, `options.tools.${name}`)] as const;
    }),
  );
  const others = found.get(ANY_TOOL);
  found.delete(ANY_TOOL);
  return { own: (name) => found.get(name), of: (name) => found.get(name) ?? others ?? {}, others };
}

export interface Treatment {
  readonly kind: ToolKind;
  /** A read by the server's word alone: each call is sent, once. */
  readonly passes?: boolean | undefined;
  /** A repeated call with the same arguments changes nothing more: the licence keyed. */
  readonly repeatable: boolean;
}

export interface Circumstances {
  /** The tool as listed; `undefined` if it is in no list. */
  readonly tool: McpTool | undefined;
  /** What the user says it is. */
  readonly declared: ToolKind | undefined;
  /** What the user says of all tools that have no rule of their own. */
  readonly otherwise: ToolKind | undefined;
  readonly trusted: boolean;
  /** Its definition is not the one that was listed first. */
  readonly changed: boolean;
}

/** `undefined`: neither the user nor the server says whether it writes. */
export function treatmentOf(circumstances: Circumstances): Treatment | undefined {
  const { tool, declared, otherwise, trusted, changed } = circumstances;
  // What a person agreed to is not what is there now.
  if (changed) return { kind: "destructive", repeatable: false };
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool?.annotations ?? {};
  const repeatable = trusted && idempotentHint === true;
  if (declared !== undefined) return { kind: declared, repeatable };
  // Only what is said: by the protocol's defaults every tool would be both.
  if (destructiveHint === true) return { kind: "destructive", repeatable };
  if (readOnlyHint === true) return { kind: "read", passes: true, repeatable: false };
  if (openWorldHint === true) return { kind: "destructive", repeatable };
  if (otherwise === "destructive") return { kind: otherwise, repeatable };
  // Each of these is about tools that write.
  const isWrite = [readOnlyHint, destructiveHint, idempotentHint].some(
    (hint) => typeof hint === "boolean",
  );
  const kind = isWrite ? "write" : otherwise;
  return kind && { kind, repeatable };
}
