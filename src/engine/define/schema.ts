/**
 * Where a tool's argument type comes from: a Standard Schema, or a bare type.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";

interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

type Checked<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

/**
 * The part of https://standardschema.dev we use: zod, valibot, arktype and others have it. A schema with defaults or
 * transforms takes one type and gives another.
 */
export interface StandardSchema<Output, Given = Output> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Checked<Output> | Promise<Checked<Output>>;
    readonly types?: { readonly input: Given; readonly output: Output } | undefined;
  };
}

/** An argument type without a check. */
export interface Typed<A> {
  readonly typed: true;
  /** Carries the type only; never set. */
  readonly _type?: A | undefined;
}

/** `A` is what the tool gets, `G` what a caller gives. */
export type Input<A, G = A> = StandardSchema<A, G> | Typed<A>;

/** Names the argument type where there is no schema: `input: typed<{ paymentId: string }>()`. */
export const typed = <A>(): Typed<A> => ({ typed: true });

/** The schema's output for these arguments. */
export async function checkArguments(
  tool: string,
  input: Input<unknown> | undefined,
  args: unknown,
): Promise<unknown> {
  if (!input || !("~standard" in input)) return args;
  const checked = await input["~standard"].validate(args);
  if (!checked.issues) return checked.value;
  const [issue] = checked.issues;
  const path = issue?.path?.map((step) => String(typeof step === "object" ? step.key : step)) ?? [];
  throw new InvalidInputError(
    ["args", ...path].join("."),
    `${tool}: ${issue?.message ?? "invalid"}`,
  );
}

/** This input, and a check of what it lets through: a model is told what is wrong before anything is recorded. */
export const withCheck = <A, G>(
  input: Input<A, G> | undefined,
  check: (args: A) => unknown,
): StandardSchema<A, G> => ({
  "~standard": {
    version: 1,
    vendor: "holdfire",
    async validate(value) {
      const args = (await checkArguments("arguments", input, value)) as A;
      check(args);
      return { value: args };
    },
  },
});
