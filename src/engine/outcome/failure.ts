/**
 * What an attempt failed with, on its way into the ledger and back: class and code as they are, the texts through the
 * codec, which redacts and encrypts them as it does results.
 *
 * @module
 */

import type { Failure } from "../../classify/failure.ts";
import { peek } from "../../lang/peek.ts";
import type { Codec } from "../../ledger/codec/codec.ts";
import type { PayloadOwner } from "../../ledger/codec/encryption.ts";
import type { AttemptNote, FailureNote } from "../../ledger/record.ts";

/** The same without the texts that may not be told. */
export function redactFailure(
  failure: Failure | undefined,
  tool: string,
  codec: Codec,
): Failure | undefined {
  if (!failure) return undefined;
  const { type, code, line, said, byTool, answered, broke } = failure;
  return { type, code, byTool, answered, broke, ...codec.redactText({ line, said }, tool) };
}

/** What the attempt's note keeps of it. */
export function noteFailure(
  failure: Failure | undefined,
  owner: PayloadOwner,
  codec: Codec,
): FailureNote | undefined {
  if (!failure) return undefined;
  const { type, code, byTool, answered, broke, line, said } = failure;
  const hasText = line !== undefined || said !== undefined;
  const text = hasText ? codec.encodeText(JSON.stringify({ line, said }), owner) : undefined;
  return { type, code, byTool, answered, broke, text };
}

/** Without a codec, and where a text was encrypted with a key that is not at hand, the texts are left out. */
export function readFailure(
  { failure }: Pick<AttemptNote, "failure">,
  owner: PayloadOwner,
  codec: Codec | undefined,
): Failure | undefined {
  if (!failure) return undefined;
  const { type, code, byTool, answered, broke, text } = failure;
  const decoded = text && codec?.decode(text, owner);
  const texts = decoded?.ok ? decoded.value : undefined;
  const [line, said] = [peek(texts, "line"), peek(texts, "said")].map((each) =>
    typeof each === "string" ? each : undefined,
  );
  return { type, code, byTool, answered, broke, line, said };
}
