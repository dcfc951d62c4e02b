/**
 * The key in the arguments of a tool. A property `idempotency_key` is hidden from the model: it is ours to fill. A key that a
 * model makes up, in whatever spelling, is dropped: kept, it would make each try another intent.
 *
 * @module
 */

import { peek, tryCall } from "../../../lang/peek.ts";

const NAMES = ["idempotency_key", "idempotencyKey"];
/** Stands in while a schema that knows the property checks arguments that lack it. */
const STAND_IN = "00000000-0000-4000-8000-000000000000";

interface HiddenKey {
  /** The schema that the model and the framework get. */
  readonly schema: unknown;
  /** The property that was hidden, if there was one. */
  readonly property: string | undefined;
}

/** Takes JSON Schema, a zod object, or a Standard Schema that can give JSON Schema; others pass as they are. */
export function hideKey(schema: unknown): HiddenKey {
  const property = keyPropertyOf(schema);
  if (property === undefined) return { schema, property };
  if (isJsonSchema(schema)) return { schema: withoutProperty(schema, property), property };
  // A refined zod object refuses to be cut.
  const cut = tryCall(schema, "omit", { [property]: true });
  return { schema: cut ?? wrapped(schema, property), property };
}

/** The property's name, if the schema has it at its top. */
export function keyPropertyOf(schema: unknown): string | undefined {
  const properties =
    peek(schema, "shape") ?? peek(schema, "properties") ?? peek(jsonSchemaOf(schema), "properties");
  return NAMES.find(
    (name) =>
      typeof properties === "object" && properties !== null && Object.hasOwn(properties, name),
  );
}

/** A copy of the JSON Schema that does not know the property. */
export function withoutProperty<S extends object>(schema: S, property: string): S {
  const { [property]: _, ...properties } = Object(peek(schema, "properties")) as Record<
    string,
    unknown
  >;
  const required = peek(schema, "required");
  const kept = Array.isArray(required) ? { required: required.filter((n) => n !== property) } : {};
  return { ...schema, properties, ...kept };
}

/** The arguments without a key that the model wrote all the same. */
export function withoutKey(args: unknown, property: string | undefined): unknown {
  if (property === undefined || typeof args !== "object" || args === null) return args;
  const { [property]: _, ...rest } = args as Record<string, unknown>;
  return rest;
}

export function withKey(args: unknown, property: string | undefined, key: string): unknown {
  return property === undefined ? args : { ...(args as object), [property]: key };
}

/** A check that knows the key, for arguments without it: it sees a stand-in, which its answer is freed from. */
export const checkWithoutKey =
  (check: (args: unknown) => unknown, property: string | undefined) =>
  (args: unknown): unknown => {
    if (property === undefined) return check(args);
    const checked = check(standIn(args, property));
    return checked instanceof Promise
      ? checked.then((value) => withoutKey(value, property))
      : withoutKey(checked, property);
  };

/** The arguments with a stand-in for the key. */
export const standIn = (args: unknown, property: string): unknown =>
  typeof args === "object" && args !== null && !Array.isArray(args)
    ? { ...args, [property]: STAND_IN }
    : args;

/** JSON Schema made by zod carries `~standard`, too; what it is shows in its properties. */
const isJsonSchema = (schema: unknown): schema is object =>
  typeof peek(schema, "properties") === "object" && peek(schema, "shape") === undefined;

const STANDARD = "~standard";

function jsonSchemaOf(schema: unknown): unknown {
  return tryCall(peek(peek(schema, STANDARD), "jsonSchema"), "input", { target: "draft-07" });
}

interface Standard {
  readonly validate: (value: unknown) => unknown;
  readonly jsonSchema: Readonly<Record<"input" | "output", (options: unknown) => object>>;
}

/** The schema without the property, for one that cannot be cut. */
function wrapped(schema: unknown, property: string): object {
  return around(
    schema,
    (shown) => withoutProperty(shown, property),
    (value) => standIn(value, property),
    (value) => withoutKey(value, property),
  );
}

/** A Standard Schema that shows another one, and changes what goes into its check and what comes out. */
function around(
  schema: unknown,
  show: (jsonSchema: object) => object,
  before: (value: unknown) => unknown,
  after: (value: unknown) => unknown,
): object {
  const standard = peek(schema, STANDARD) as Standard;
  const shown = (io: "input" | "output") => (options: unknown) =>
    show(standard.jsonSchema[io](options));
  return {
    [STANDARD]: {
      version: 1,
      vendor: "holdfire",
      async validate(value: unknown) {
        const checked = await standard.validate(before(value));
        const isRight = peek(checked, "issues") === undefined;
        return isRight ? { value: after(peek(checked, "value")) } : checked;
      },
      jsonSchema: { input: shown("input"), output: shown("output") },
    },
  };
}

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
