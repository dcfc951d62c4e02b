/**
 * What a user says when guarding an MCP client, and how a tool is treated by it.
 *
 * A server's hints are its own words, so they may only tighten. What would loosen (it only reads, it may be
 * repeated) counts if the user trusts the server by name. What the user says of a tool outranks its hints.
 *
 * @module
 */

import type { IsErrorMeans } from "../../classify/mcp.ts";
import { checkOptions, oneOf } from "../../engine/define/check.ts";
import type { ToolKind } from "../../engine/define/definition.ts";
import { InvalidInputError } from "../../errors.ts";
import type { ToolRules } from "../shared/tools/guard-tool.ts";
import type { McpCall, McpTool } from "./sdk.ts";

/** What is said of one tool: the definition of `hf.tool` without `name`, `input` and `run`. */
export interface McpToolRules
  // biome-ignore lint/suspicious/noExplicitAny: the arguments of a tool are known to its server alone
  extends ToolRules<any, any, any> {
  /** What `isError: true` proves. @default "unknown" */
  readonly isErrorMeans?: IsErrorMeans | undefined;
  /** Whether a definition that changed since it was listed needs a person. @default "ask" */
  readonly changed?: "ask" | "allow" | undefined;
}

/** A value, or how it is found for one call. */
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
   * Names of servers, as they call themselves, whose `readOnlyHint` and `idempotentHint` count. The name is not
   * checked: list servers that you start yourself, or reach under an address you trust. @default []
   */
  readonly trust?: readonly string[] | undefined;
  /** What you know of its tools, by their names. A `kind` given here outranks the server's hints. */
  readonly tools?: Readonly<Record<string, McpToolRules>> | undefined;
  /** What a tool without any hint is: a plain write, or one that needs a person. @default "write" */
  readonly unannotated?: "write" | "ask" | undefined;
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
  "unannotated",
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
  const { unannotated, isErrorMeans, reply, trust } = options;
  oneOf(unannotated, [undefined, "write", "ask"], "options.unannotated");
  oneOf(isErrorMeans, [undefined, "unknown", "rejected", "refused"], "options.isErrorMeans");
  oneOf(reply, [undefined, "envelope", "result"], "options.reply");
  if (trust !== undefined && !Array.isArray(trust)) {
    throw new InvalidInputError("options.trust", "must list names of servers.");
  }
}

export interface Treatment {
  readonly kind: ToolKind;
  /** A repeated call with the same arguments changes nothing more: the licence keyed. */
  readonly repeatable: boolean;
}

export interface Circumstances {
  /** The tool as listed; `undefined` if it is in no list. */
  readonly tool: McpTool | undefined;
  /** What the user says it is. */
  readonly declared: ToolKind | undefined;
  readonly trusted: boolean;
  readonly unannotated: "write" | "ask";
  /** Its definition is not the one that was listed first. */
  readonly changed: boolean;
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

export function treatmentOf(circumstances: Circumstances): Treatment {
  const { tool, declared, trusted, unannotated, changed } = circumstances;
  // What a person agreed to is not what is there now.
  if (changed) return { kind: "destructive", repeatable: false };
  const hints = tool?.annotations ?? {};
  const isSaid = (hint: string) => hints[hint] === true;
  const repeatable = trusted && isSaid("idempotentHint");
  if (declared !== undefined) return { kind: declared, repeatable };
  // Only what is said: by the protocol's defaults every tool would be both.
  if (isSaid("destructiveHint") || isSaid("openWorldHint"))
    return { kind: "destructive", repeatable };
  if (trusted && isSaid("readOnlyHint")) return { kind: "read", repeatable: false };
  const says = HINTS.some((hint) => typeof hints[hint] === "boolean");
  return { kind: !says && unannotated === "ask" ? "destructive" : "write", repeatable };
}
