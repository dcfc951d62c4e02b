/**
 * What a user says when guarding an MCP client.
 *
 * @module
 */

import type { IsErrorMeans } from "../../classify/mcp.ts";
import { InvalidInputError } from "../../errors.ts";
import type { ToolRules } from "../shared/tools/guard-tool.ts";
import type { McpCall } from "./sdk.ts";

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
   * Names of servers, as they call themselves, whose `readOnlyHint` and `idempotentHint` count. Nobody checks
   * that name: list servers that you start yourself, or reach under an address you trust. @default []
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

const NAMES = new Set([
  "server",
  "trust",
  "tools",
  "unannotated",
  "isErrorMeans",
  "scope",
  "thread",
  "messages",
  "toolCallId",
  "reply",
  "relistMs",
  "lateMs",
]);

const CHOICES: Readonly<Record<string, readonly unknown[]>> = {
  unannotated: ["write", "ask"],
  isErrorMeans: ["unknown", "rejected", "refused"],
  reply: ["envelope", "result"],
};

export function checkOptions(options: McpGuardOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (!NAMES.has(name)) throw new InvalidInputError(`options.${name}`, "is not an option");
    const choices = CHOICES[name];
    if (choices && value !== undefined && !choices.includes(value)) {
      throw new InvalidInputError(`options.${name}`, `must be one of ${choices.join(", ")}`);
    }
  }
  if (options.trust !== undefined && !Array.isArray(options.trust)) {
    throw new InvalidInputError("options.trust", "must list names of servers");
  }
}

export const perCall = <T>(given: PerCall<T> | undefined, call: McpCall): T | undefined =>
  typeof given === "function" ? (given as (call: McpCall) => T | undefined)(call) : given;
