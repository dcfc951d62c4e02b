/**
 * Hides `idempotency_key` from the model: a property of that name is ours to fill.
 *
 * @module
 */

import { peek, tryCall } from "../../../lang/peek.ts";

const NAMES = ["idempotency_key", "idempotencyKey"];
/** Stands in while a schema that knows the property checks arguments that lack it. */
const STAND_IN = "00000000-0000-4000-8000-000000000000";

export interface HiddenKey {
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
export const isJsonSchema = (schema: unknown): schema is object =>
  typeof peek(schema, "properties") === "object" && peek(schema, "shape") === undefined;

export const STANDARD = "~standard";

export function jsonSchemaOf(schema: unknown): unknown {
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
export function around(
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
