/**
 * What a user says of a server's tools, as data: a JSON file, or an export of a module.
 *
 * @module
 */

import type { IsErrorMeans } from "../../classify/mcp.ts";
import { checkOptions, notNegative, oneOf, positive } from "../../engine/define/check.ts";
import type { OnDrift, ToolKind } from "../../engine/define/definition.ts";
import { InvalidInputError } from "../../errors.ts";

/** What becomes of a call that is made once more, soon after the host has received its answer. */
export type Repeat = "ask" | "allow" | "replay";

/** How another tool of the same server shows whether a call was done. */
export interface ReadWith {
  /** The tool that is called. It must only read. */
  readonly tool: string;
  /** Its arguments. `"$key"` stands for the key, `"$intent.amount"` for a field of the intent. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Where its result has the list, e.g. `"data"`. @default the result itself, or its only list */
  readonly items?: string | undefined;
  /** What an item must have to be the one: a path in it, and a value (`"$key"`, `"$intent.amount"`, or as it is). */
  readonly match: Readonly<Record<string, unknown>>;
  /** Where an item has its id, e.g. `"id"`. @default none is known */
  readonly id?: string | undefined;
  /** A list with so many items may go on: what is not in it may be there. @default it is whole */
  readonly pageSize?: number | undefined;
}

/** What is said of one tool. */
export interface GatewayRule {
  /** @default by the hints of the server */
  readonly kind?: ToolKind | undefined;
  /** The arguments that say what was wanted; others are wording. @default all */
  readonly intent?: readonly string[] | undefined;
  /** The argument that takes the key. @default `idempotency_key` or `idempotencyKey`, where the tool has it */
  readonly keyField?: string | undefined;
  /** The server remembers a key this long, in milliseconds. */
  readonly keyed?: { readonly forMs: number } | undefined;
  readonly readWith?: ReadWith | undefined;
  /** As for a tool of the library: without it, *absent* proves nothing. */
  readonly commitsWithinMs?: number | undefined;
  /** Shown to the person who is asked, and in the tool's description. */
  readonly alsoDoes?: readonly string[] | undefined;
  /** What an answer with `isError`, or a JSON-RPC error, proves. @default "unknown" with a kind, else "rejected" */
  readonly isErrorMeans?: IsErrorMeans | undefined;
  /** @default that of the gateway */
  readonly repeat?: Repeat | undefined;
  /**
   * What becomes of another call of this tool after the model was told that the outcome of one is unknown: a person is
   * asked, it is let pass, or it is refused. @default "hold", for a tool that is said to write; else "allow"
   */
  readonly onDrift?: OnDrift | undefined;
}

/** By the server's name in the ledger, then by the tool's name. */
export interface GatewayRules {
  readonly servers: Readonly<Record<string, Readonly<Record<string, GatewayRule>>>>;
}

const RULE: readonly (keyof GatewayRule)[] = [
  "kind",
  "intent",
  "keyField",
  "keyed",
  "readWith",
  "commitsWithinMs",
  "alsoDoes",
  "isErrorMeans",
  "repeat",
  "onDrift",
];
const READ_WITH = ["tool", "arguments", "items", "match", "id", "pageSize"] as const;

/** The rules, checked: one that is misspelt would be one that does not hold. */
export function checkRules(rules: GatewayRules): GatewayRules {
  checkOptions(rules, ["servers"], "rules");
  for (const [server, tools] of Object.entries(objectAt(rules.servers, "rules.servers"))) {
    for (const [tool, rule] of Object.entries(objectAt(tools, `rules of ${server}`))) {
      checkRule(rule, `rule of ${server}#${tool}`);
    }
  }
  return rules;
}

function checkRule(rule: GatewayRule, at: string): void {
  checkOptions(objectAt(rule, at), RULE, at);
  oneOf(rule.kind, [undefined, "read", "write", "destructive"], `${at}.kind`);
  oneOf(rule.isErrorMeans, [undefined, "unknown", "rejected", "refused"], `${at}.isErrorMeans`);
  oneOf(rule.repeat, [undefined, "ask", "allow", "replay"], `${at}.repeat`);
  oneOf(rule.onDrift, [undefined, "hold", "allow", "refuse"], `${at}.onDrift`);
  notNegative(rule.commitsWithinMs, `${at}.commitsWithinMs`);
  if (rule.keyed) positive(rule.keyed.forMs, `${at}.keyed.forMs`, true);
  for (const name of ["intent", "alsoDoes"] as const) {
    const list = rule[name];
    if (list !== undefined && !isTexts(list)) {
      throw new InvalidInputError(`${at}.${name}`, "must be a list of texts.");
    }
  }
  const { readWith } = rule;
  if (!readWith) return;
  checkOptions(objectAt(readWith, `${at}.readWith`), READ_WITH, `${at}.readWith`);
  if (typeof readWith.tool !== "string") {
    throw new InvalidInputError(`${at}.readWith.tool`, "must name a tool of the same server.");
  }
  if (Object.keys(objectAt(readWith.match, `${at}.readWith.match`)).length === 0) {
    throw new InvalidInputError(`${at}.readWith.match`, "must say what an item has.");
  }
}

const isTexts = (list: unknown): boolean =>
  Array.isArray(list) && list.every((text) => typeof text === "string");

function objectAt<T extends object>(value: T, at: string): T {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new InvalidInputError(at, "must be an object.");
}

/** What is said of a tool; `*` stands for those of which nothing is said. */
export function ruleFor(rules: GatewayRules, server: string, tool: string): GatewayRule {
  const tools = own(rules.servers, server) ?? {};
  return own(tools, tool) ?? own(tools, "*") ?? {};
}

const own = <T>(object: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;
