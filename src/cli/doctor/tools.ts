/**
 * What a config declares: whether its program has a name; and of its tools, which writes can neither be read nor repeated safely, and which take
 * deltas.
 *
 * @module
 */

import type { ToolKind } from "../../engine/define/definition.ts";
import { type Tool, toolOf } from "../../engine/define/tool.ts";
import { engineOf } from "../../engine/engine-of.ts";
import { UsageError } from "../command.ts";
import type { HoldfireConfig } from "../config.ts";
import { isRecord } from "./read-bounded.ts";

export interface ToolFinding {
  readonly tool: string;
  readonly kind: string;
  /** Neither keyed nor conditional nor readable: a lost reply stays unknown until a person checks. */
  readonly blind: boolean;
  /** Properties that look like deltas; `undefined`: the schema could not be read. */
  readonly deltas: readonly string[] | undefined;
}

export interface ConfigFindings {
  /** The name of the program, which is part of every key; `null` if it has none. */
  readonly app: string | null;
  /** How many tools the config's holdfire guards, of each kind: those that it lists, and those that it has made. */
  readonly guarded: Readonly<Record<ToolKind, number>>;
  readonly tools: readonly ToolFinding[];
}

export function configFindings({ hf, tools: listed }: HoldfireConfig): ConfigFindings {
  const tools = new Map(listed.map(ownTool).map((tool) => [tool.name, tool]));
  const { app, tenantState } = engineOf(hf);
  // What `guardTools` guards is a tool of the holdfire, too, and need not be listed.
  for (const [name, tool] of tenantState.tools) if (!tools.has(name)) tools.set(name, tool);
  const guarded = { read: 0, write: 0, destructive: 0 };
  for (const { kind } of tools.values()) guarded[kind] += 1;
  return { tools: [...tools.values()].flatMap(findingOf), app: app ?? null, guarded };
}

function ownTool(guarded: object): Tool {
  const tool = toolOf(guarded);
  if (tool) return tool;
  throw new UsageError(
    "The config's tools belong to another copy of holdfire.",
    "Run the copy of the project: npx holdfire doctor",
  );
}

/** Tools that read are left out: there is nothing to lose. */
function findingOf({
  name,
  kind,
  keyedForMs,
  conditional,
  readState,
  input,
}: Tool): readonly ToolFinding[] {
  if (kind === "read") return [];
  const blind = keyedForMs === undefined && !conditional && readState === undefined;
  return [{ tool: name, kind, blind, deltas: deltasIn(input) }];
}

/** Words that mean a change wherever they stand in a name. */
const WORDS = new Set([
  ...["add", "added", "append", "subtract", "increment", "incr", "decrement", "decr"],
  ...["increase", "decrease", "delta", "adjust", "adjustment"],
]);
/** Words that mean one only alone: `sortBy` and `createdBy` are something else. */
const WHOLE = new Set(["by", "inc", "dec", "plus", "minus"]);

const MOST_PROPERTIES = 500;
const DEEPEST = 6;

/** `amountToAdd`, `amount_to_add` and `amount-to-add` are the same words; `address` is one. */
export function isDeltaName(name: string): boolean {
  const words = name
    .slice(0, 100)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.some((word) => WORDS.has(word)) || WHOLE.has(words.join(""));
}

/** The paths of properties that look like deltas; `undefined` if the schema cannot be read. */
export function deltasIn(input: unknown): readonly string[] | undefined {
  const schema = jsonSchemaOf(input);
  if (!schema) return undefined;
  const paths: string[] = [];
  let left = MOST_PROPERTIES;

  function walk(node: unknown, path: readonly string[], depth: number) {
    if (!isRecord(node) || depth > DEEPEST) return;
    for (const [name, child] of Object.entries(isRecord(node.properties) ? node.properties : {})) {
      left -= 1;
      if (left < 0) return;
      if (isDeltaName(name)) paths.push([...path, name].join("."));
      walk(child, [...path, name], depth + 1);
    }
    walk(node.items, path, depth + 1);
    for (const part of ["anyOf", "oneOf", "allOf"].map((key) => node[key])) {
      if (Array.isArray(part)) for (const one of part) walk(one, path, depth + 1);
    }
  }

  walk(schema, [], 0);
  return [...new Set(paths)];
}

/** A JSON schema itself, or what a Standard Schema says it is as JSON. */
function jsonSchemaOf(input: unknown): Readonly<Record<string, unknown>> | undefined {
  const standard: unknown = Object(input)["~standard"];
  const convert: unknown = Object(Object(standard).jsonSchema).input;
  try {
    const schema =
      typeof convert === "function" ? convert({ target: "draft-2020-12" }) : Object(input);
    return isRecord(schema) && (schema.properties ?? schema.anyOf ?? schema.oneOf)
      ? schema
      : undefined;
  } catch {
    // A schema that JSON cannot say.
    return undefined;
  }
}
