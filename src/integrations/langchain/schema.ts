/**
 * The schema of a tool as LangChain and the model get it: without the property that takes our key.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { peek } from "../../lang/peek.ts";
import { hideKey } from "../shared/tools/hidden-key.ts";

interface Standard {
  readonly validate: (value: unknown) => unknown;
  readonly jsonSchema: { readonly input: (options: object) => object };
}

/** LangChain takes zod and JSON Schema. A zod object that cannot be cut is shown as JSON Schema, and checked here. */
export function shownSchema(given: unknown): {
  readonly schema: unknown;
  readonly check: (args: unknown) => Promise<unknown>;
} {
  const { schema, property } = hideKey(given);
  const standard = peek(schema, "~standard") as Standard | undefined;
  const isCut = property === undefined || peek(schema, "_def") !== undefined || !standard;
  if (isCut) return { schema, check: async (args) => args };
  return {
    schema: standard.jsonSchema.input({ target: "draft-07" }),
    async check(args) {
      const checked = await standard.validate(args);
      if (peek(checked, "issues") === undefined) return peek(checked, "value");
      throw new InvalidInputError("args", "are not what the tool takes.");
    },
  };
}
