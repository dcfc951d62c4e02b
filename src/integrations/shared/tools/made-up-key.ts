/**
 * Drops a key that a model makes up, in whatever spelling: kept, it would make each try another intent.
 *
 * @module
 */

import { peek } from "../../../lang/peek.ts";
import { around, isJsonSchema, jsonSchemaOf, keyPropertyOf, STANDARD } from "./hidden-key.ts";

/** Which key-like properties a tool has. */
export interface KeyNames {
  /** The property that was hidden, if there was one: it takes our key. */
  readonly property: string | undefined;
  /** Whether the schema has a property of this name; true as well where the schema cannot be read. */
  readonly isDeclared: (name: string) => boolean;
}

/** `idempotency_key`, `Idempotency-Key`, `idempotencyToken`, `x-idempotency-key` and the like. */
const isKeyLike = (name: string): boolean =>
  /^x?idempoten(?:cy|t)(?:key|token|id)?$/.test(name.toLowerCase().replace(/[^a-z0-9]/g, ""));

/** The arguments without key-like properties that the schema does not declare. */
export function withoutMadeUp(args: unknown, { isDeclared }: KeyNames): unknown {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  const isMadeUp = (name: string) => isKeyLike(name) && !isDeclared(name);
  if (!Object.keys(args).some(isMadeUp)) return args;
  return Object.fromEntries(Object.entries(args).filter(([name]) => !isMadeUp(name)));
}

/** The key-like names of a schema. Without a schema nothing is declared. */
export function keyNamesOf(schema: unknown): KeyNames {
  const names = schema === undefined || schema === null ? new Set<string>() : declaredIn(schema, 0);
  return {
    property: keyPropertyOf(schema),
    isDeclared: (name) => names === undefined || names.has(name),
  };
}

const DEEPEST = 8;

/** The names of all properties at the top, in any branch; `undefined` where that cannot be read. */
function declaredIn(schema: unknown, depth: number): ReadonlySet<string> | undefined {
  if (depth > DEEPEST) return undefined;
  const json = isReadable(schema) ? schema : jsonSchemaOf(schema);
  if (json === undefined) {
    // A refined object of zod 3.
    const inner = peek(peek(schema, "_def"), "schema");
    return inner === undefined ? undefined : declaredIn(inner, depth + 1);
  }
  if (peek(json, "$ref") !== undefined) return undefined;
  const properties = peek(json, "shape") ?? peek(json, "properties") ?? {};
  const names = new Set(Object.keys(Object(properties)));
  for (const branch of ["anyOf", "oneOf", "allOf"].flatMap((n) => peek(json, n) ?? [])) {
    const more = declaredIn(branch, depth + 1);
    if (!more) return undefined;
    for (const name of more) names.add(name);
  }
  return names;
}

/** A zod object, or JSON Schema. */
const isReadable = (schema: unknown): boolean =>
  peek(schema, "shape") !== undefined ||
  (peek(schema, "_def") === undefined && (isJsonSchema(schema) || !peek(schema, STANDARD)));

/** A strict Standard Schema refuses what a model made up; the one returned drops it before the check. */
export function tolerant(schema: unknown, names: KeyNames): unknown {
  const isStrict = peek(jsonSchemaOf(schema), "additionalProperties") === false;
  if (!isStrict) return schema;
  const drop = (value: unknown) => withoutMadeUp(value, names);
  return around(
    schema,
    (shown) => shown,
    drop,
    (value) => value,
  );
}
