/**
 * Schemas of the AI SDK: its own kind (perhaps made on demand), zod, and Standard Schema.
 *
 * @module
 */

import { peek } from "../../lang/peek.ts";
import {
  hideKey,
  type KeyNames,
  keyNamesOf,
  keyPropertyOf,
  standIn,
  tolerant,
  withoutKey,
  withoutMadeUp,
  withoutProperty,
} from "../shared/tools/hidden-key.ts";

const MARK = Symbol.for("vercel.ai.schema");

/** A schema of the SDK's own kind, by structure. */
interface AiSchema {
  readonly jsonSchema: object | PromiseLike<object>;
  readonly validate?: ((value: unknown) => unknown) | undefined;
}

export interface AiHiddenKey {
  readonly schema: unknown;
  readonly keys: KeyNames | (() => KeyNames | Promise<KeyNames>);
}

/** `hideKey` for all that `inputSchema` may be. */
export function hideAiKey(schema: unknown): AiHiddenKey {
  const isLazy = typeof schema === "function" && !("~standard" in schema);
  if (isLazy) {
    const made = () => schema() as AiSchema;
    return { schema: () => hidden(made()), keys: () => keysOf(made()) };
  }
  if (peek(schema, MARK) !== true) {
    const keys = keyNamesOf(schema);
    return { schema: tolerant(hideKey(schema).schema, keys), keys };
  }
  const own = schema as AiSchema;
  return { schema: hidden(own), keys: () => keysOf(own) };
}

/** JSON Schema as a schema of the SDK. */
export const aiSchema = (jsonSchema: object): object => ({
  [MARK]: true,
  _type: undefined,
  jsonSchema,
  validate: undefined,
});

/** A promise only where the schema is one: a call reads all it can before it waits for anything. */
const keysOf = ({ jsonSchema }: AiSchema): KeyNames | Promise<KeyNames> =>
  "then" in jsonSchema ? Promise.resolve(jsonSchema).then(keyNamesOf) : keyNamesOf(jsonSchema);

function hidden(own: AiSchema): object {
  const { validate } = own;
  return {
    [MARK]: true,
    _type: undefined,
    get jsonSchema() {
      const { jsonSchema } = own;
      return "then" in jsonSchema ? jsonSchema.then(cut) : cut(jsonSchema);
    },
    validate:
      validate &&
      (async (value: unknown) => {
        const keys = await keysOf(own);
        const { property } = keys;
        const args = withoutMadeUp(value, keys);
        if (property === undefined) return validate(args);
        const checked = await validate(standIn(args, property));
        const isRight = peek(checked, "success") === true;
        const found = peek(checked, "value");
        return isRight ? { success: true, value: withoutKey(found, property) } : checked;
      }),
  };
}

function cut(jsonSchema: object): object {
  const property = keyPropertyOf(jsonSchema);
  return property === undefined ? jsonSchema : withoutProperty(jsonSchema, property);
}
