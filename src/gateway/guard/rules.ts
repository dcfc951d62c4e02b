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
  /** Only of a call whose intent has this: a path in it, and a value. Of another one it cannot tell. @default of all */
  readonly when?: Readonly<Record<string, unknown>> | undefined;
  /** The tool that is called. It must only read. */
  readonly tool: string;
  /** Its arguments. `"$key"` stands for the key, `"$intent.amount"` for a field of the intent. */
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  /** Where its result has the list, e.g. `"data"`. @default the result itself, or its only list */
  readonly items?: string | undefined;
  /** Its result is the thing itself, and no list. @default false */
  readonly single?: boolean | undefined;
  /** What an item must have to be the one: a path in it, and a value (`"$key"`, `"$intent.amount"`, or as it is). */
  readonly match: Readonly<Record<string, unknown>>;
  /**
   * Where an item has the time at which it was made: a date, or seconds since 1970. One that is older than the call is
   * another one. Needed where `match` has no `"$key"`, but for a `single` thing, which is what it is whoever made it.
   */
  readonly madeAt?: string | undefined;
  /** Where an item has its id, e.g. `"id"`. @default none is known */
  readonly id?: string | undefined;
  /** A list with so many items may go on: what is not in it may be there. @default it is whole */
  readonly pageSize?: number | undefined;
  /** The list begins with what was made last: it is whole, for this call, once it is older than the call. */
  readonly newestFirst?: boolean | undefined;
}

/** What is said of one tool. */
export interface GatewayRule {
  /** @default by the hints of the server */
  readonly kind?: ToolKind | undefined;
  /** The arguments that say what was wanted; others are wording. @default all */
  readonly intent?: readonly string[] | undefined;
  /**
   * The arguments that say what a call is about, e.g. the account: only a call that has the same here may be an earlier
   * one in other words. @default any argument in common
   */
  readonly about?: readonly string[] | undefined;
  /** The argument that takes the key. @default `idempotency_key` or `idempotencyKey`, where the tool has it */
  readonly keyField?: string | undefined;
  /** The server remembers a key this long, in milliseconds. */
  readonly keyed?: { readonly forMs: number } | undefined;
  readonly readWith?: ReadWith | undefined;
  /** As for a tool of the library: without it, *absent* proves nothing. */
  readonly commitsWithinMs?: number | undefined;
  /** Shown to the person who is asked, and in the tool's description. */
  readonly alsoDoes?: readonly string[] | undefined;
  /**
   * What an answer with `isError`, or a JSON-RPC error, proves: nothing, or that it was not done and would not be
   * (`rejected`), or not now (`refused`). @default nothing; without a kind, the host decides whether to call again
   */
  readonly isErrorMeans?: IsErrorMeans | undefined;
  /**
   * What a result has that is a success, each a path in it and a value, e.g. `[{ ok: true }]`; `"$any"` stands for any
   * value. A result that has none of these counts as one with `isError`, for a server that hands on a no of its service as if it were a yes.
   * @default every result without `isError`
   */
  readonly succeedsWith?: readonly Readonly<Record<string, unknown>>[] | undefined;
  /** @default that of the gateway */
  readonly repeat?: Repeat | undefined;
  /**
   * What becomes of a call that may be another one in other words, whose outcome was told as unknown a short while ago:
   * a person is asked, it is let pass, or it is refused. @default "hold", for a tool that is said to write; else "allow"
   */
  readonly onDrift?: OnDrift | undefined;
}

/** By the tool's name; `*` stands for those of which nothing is said. */
export type ToolRules = Readonly<Record<string, GatewayRule>>;

/** By the server's name in the ledger. */
export interface GatewayRules {
  readonly servers: Readonly<Record<string, ToolRules>>;
}

/** Of a tool that changes nothing. */
export const READ: GatewayRule = { kind: "read" };

const RULE: readonly (keyof GatewayRule)[] = [
  "kind",
  "intent",
  "about",
  "keyField",
  "keyed",
  "readWith",
  "commitsWithinMs",
  "alsoDoes",
  "isErrorMeans",
  "succeedsWith",
  "repeat",
  "onDrift",
];
const READ_WITH: readonly (keyof ReadWith)[] = [
  "when",
  "tool",
  "arguments",
  "items",
  "single",
  "match",
  "madeAt",
  "id",
  "pageSize",
  "newestFirst",
];

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
  for (const name of ["intent", "about", "alsoDoes"] as const) {
    const list = rule[name];
    if (list !== undefined && !isTexts(list)) {
      throw new InvalidInputError(`${at}.${name}`, "must be a list of texts.");
    }
  }
  const { readWith, intent, about = [], succeedsWith } = rule;
  if (succeedsWith !== undefined) {
    if (!Array.isArray(succeedsWith) || succeedsWith.length === 0) {
      throw new InvalidInputError(`${at}.succeedsWith`, "must be a list of what a result has.");
    }
    for (const one of succeedsWith) objectAt(one, `${at}.succeedsWith`);
  }
  if (intent && about.some((name) => !intent.includes(name))) {
    throw new InvalidInputError(`${at}.about`, "must name arguments that are in intent, too.");
  }
  if (readWith) checkReadWith(readWith, `${at}.readWith`);
}

function checkReadWith(readWith: ReadWith, at: string): void {
  checkOptions(objectAt(readWith, at), READ_WITH, at);
  const { tool, match, madeAt, single, when } = readWith;
  if (when !== undefined) objectAt(when, `${at}.when`);
  if (typeof tool !== "string") {
    throw new InvalidInputError(`${at}.tool`, "must name a tool of the same server.");
  }
  const wanted = Object.values(objectAt(match, `${at}.match`));
  if (wanted.length === 0) throw new InvalidInputError(`${at}.match`, "must say what an item has.");
  if (!wanted.includes("$key") && madeAt === undefined && !single) {
    throw new InvalidInputError(
      `${at}.madeAt`,
      'is needed: without "$key" in match, an older item would be taken for this call.',
    );
  }
}

const isTexts = (list: unknown): boolean =>
  Array.isArray(list) && list.every((text) => typeof text === "string");

function objectAt<T extends object>(value: T, at: string): T {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new InvalidInputError(at, "must be an object.");
}

/** What is said of the tools of a server: what stands later counts. */
export const rulesOf = (rules: readonly GatewayRules[], server: string): ToolRules =>
  Object.assign({}, ...rules.map(({ servers }) => own(servers, server) ?? {}));

export const ruleFor = (tools: ToolRules, tool: string): GatewayRule =>
  own(tools, tool) ?? own(tools, "*") ?? {};

const own = <T>(object: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined;
