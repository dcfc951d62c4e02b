/**
 * What is said of a framework's tools: a rule for each of them, by its name.
 *
 * There is no default. A tool without a rule would be a write, whose first answer is replayed for the whole turn: a model
 * that polls would never see anything but "queued".
 *
 * @module
 */

import type { ToolKind, ToolOptions } from "../../../engine/define/definition.ts";
import { InvalidInputError } from "../../../errors.ts";

// biome-ignore lint/suspicious/noExplicitAny: rules of tools with any arguments stand in one record
type Any = any;

/** One call of a model, as `again` is asked about it. */
export interface RuledCall {
  /** The framework's id of the call. It changes with every try, so it cannot be the answer of `again`. */
  readonly toolCallId: string | undefined;
  /** The request that the call belongs to, as far as it was given to the guard. */
  readonly scope: string | undefined;
  readonly thread: string | undefined;
  readonly turn: string | undefined;
  /** The conversation so far, where the framework tells it. */
  readonly messages: unknown;
  /** What the framework gives its function beside the arguments: options, config, context of the run. */
  readonly context: Any;
}

/**
 * What is said of a framework's tool: the definition of `hf.tool` without `name`, `input` and `run`, which
 * the framework has.
 */
export type ToolRules<A = Any, R = Any, I = Any> = Omit<ToolOptions<A, I, R>, "name"> & {
  /**
   * Names a repeat that is wanted: the call is then another operation than the same call without it, or with another
   * text. It comes from a person or from your program ("clicked at 14:05"), never from the model. It is asked when the tool is
   * called; where arguments are checked asynchronously before (LangChain, some loops), once they are.
   *
   * @default the same call in one turn is one operation
   */
  readonly again?: ((args: A, call: RuledCall) => string | undefined) | undefined;
};

/** The kind of the tool, or all that is known of it. */
export type ToolRule<A = Any, R = Any, I = Any> = ToolKind | ToolRules<A, R, I>;

/** Arguments of which a type says nothing may be anything. */
export type KnownOrAny<T> = unknown extends T ? Any : T;

/** What a function takes first; one that takes nothing says nothing of the arguments. */
export type FirstArgument<F> = F extends (first: infer A, ...rest: Any[]) => unknown
  ? KnownOrAny<A>
  : Any;

/** A rule for each tool; `"*"` is the rule of all that have none of their own. */
export type RuleForEach<Own> = Own | (Partial<Own> & { readonly "*": ToolRule });

/** What the type of a tool tells of it. */
export interface ToolTypes {
  readonly name: string;
  readonly args: Any;
  readonly result: Any;
}

/**
 * A rule for each tool of an array. Where the types tell the names, each rule has its own tool's arguments. Most SDKs
 * make `string` of a name: then a rule has the arguments of the one tool there is, or of all of them together, and
 * the names are checked at run time alone.
 */
export type RulesByName<T extends ToolTypes> = RuleForEach<
  string extends T["name"]
    ? { readonly [name: string]: ToolRule<AllArguments<T>, OneResult<T>> }
    : { readonly [One in T as One["name"]]: ToolRule<KnownOrAny<One["args"]>, One["result"]> }
>;

/** `A & B`; of one tool its own, also where that is a union. */
type AllArguments<T extends ToolTypes> = (
  T extends unknown
    ? (args: KnownOrAny<T["args"]>) => void
    : never
) extends (args: infer All) => void
  ? All
  : never;

type OneResult<T extends ToolTypes, All extends ToolTypes = T> = T extends unknown
  ? [All["result"]] extends [T["result"]]
    ? T["result"]
    : Any
  : never;

const KINDS: readonly ToolKind[] = ["read", "write", "destructive"];
export const ANY_TOOL = "*";

/** How a tool of this name is treated. */
export type RuleOf = (name: string) => ToolRules;

/**
 * Checks the rules: none is missing, none is for a tool that is not there.
 *
 * @param needed the tools that must have a rule
 * @param known all tools that may have one
 */
export function checkRules(
  rules: unknown,
  needed: readonly string[],
  known: readonly string[] = needed,
): RuleOf {
  const find = readRules(rules);
  const names = new Set([...known, ANY_TOOL]);
  for (const name of Object.keys(Object(rules))) {
    // The tool that was meant would go without it.
    if (!names.has(name)) {
      throw new InvalidInputError(`rules.${name}`, "there is no tool with this name.");
    }
  }
  const missing = needed.filter((name) => find(name) === undefined);
  if (missing.length > 0) throw missingRules(missing);
  return (name) => find(name) ?? { kind: "write" };
}

/** The rule of a tool by its name, or that of `"*"`, in full. `undefined` if there is neither. */
export function readRules(rules: unknown, at = "rules"): (name: string) => ToolRules | undefined {
  if (typeof rules !== "object" || rules === null) {
    throw new InvalidInputError(at, 'must have a rule for each tool, e.g. { pay: "write" }.');
  }
  const found = new Map(
    Object.entries(rules).map(([name, rule]) => [name, readRule(rule, `${at}.${name}`)] as const),
  );
  return (name) => found.get(name) ?? found.get(ANY_TOOL);
}

/** One rule, in full. */
export function readRule(rule: unknown, at = "rule"): ToolRules {
  const isRules = typeof rule === "object" && rule !== null;
  const kind = isRules ? (rule as { readonly kind?: unknown }).kind : rule;
  if (!KINDS.includes(kind as ToolKind)) {
    const what = isRules ? "must have a kind" : "must be a kind, or an object with a kind";
    throw new InvalidInputError(
      at,
      `${what}: "read" (each call is made), "write" (the same call in one turn is made once) or "destructive" (a person is asked).`,
    );
  }
  return isRules ? (rule as ToolRules) : { kind: kind as ToolKind };
}

/** Names all of them at once, and what to write. */
export function missingRules(missing: readonly string[], at = "rules"): InvalidInputError {
  const written = missing.map(
    (name) => `${IDENTIFIER.test(name) ? name : JSON.stringify(name)}: …`,
  );
  const which = missing.length === 1 ? "this tool has" : `these ${missing.length} tools have`;
  return new InvalidInputError(
    at,
    `${which} no rule: { ${written.join(", ")} }. Write "read" for a tool that changes nothing (each call is made), "write" (the same call in one turn is made once), "destructive" (a person is asked) or an object; or { "*": "write" } for all that have none.`,
  );
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
