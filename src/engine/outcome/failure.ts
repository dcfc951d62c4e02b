/**
 * What an attempt failed with, on its way into the ledger and back: class and code as they are, the texts through the
 * codec, which redacts and encrypts them as it does results.
 *
 * @module
 */

import type { Ended, Judgement } from "../../classify/classify.ts";
import { type Failure, failureOf } from "../../classify/failure.ts";
import { lookAt } from "../../classify/thrown.ts";
import { withTimeLimit } from "../../lang/clock.ts";
import { peek } from "../../lang/peek.ts";
import type { Codec } from "../../ledger/codec/codec.ts";
import type { PayloadOwner } from "../../ledger/codec/encryption.ts";
import type { AttemptNote, FailureNote } from "../../ledger/record.ts";
import { failedBody } from "../../wire/guarded-fetch.ts";
import type { WireToken } from "../../wire/token.ts";
import type { Engine } from "../engine.ts";
import type { Operation } from "../operation/operation.ts";
import type { Result } from "./result.ts";

/** The same without the texts that may not be told. */
export function redactFailure(
  failure: Failure | undefined,
  tool: string,
  codec: Codec,
): Failure | undefined {
  if (!failure) return undefined;
  const { line, said, ...facts } = failure;
  return { ...facts, ...codec.redactText({ line, said }, tool) };
}

/** What the attempt's note keeps of it. */
export function noteFailure(
  failure: Failure | undefined,
  owner: PayloadOwner,
  codec: Codec,
): FailureNote | undefined {
  if (!failure) return undefined;
  const { line, said, ...facts } = failure;
  const hasText = line !== undefined || said !== undefined;
  const text = hasText ? codec.encodeText(JSON.stringify({ line, said }), owner) : undefined;
  return { ...facts, text };
}

/** Without a codec, and where a text was encrypted with a key that is not at hand, the texts are left out. */
export function readFailure(
  { failure }: Pick<AttemptNote, "failure">,
  owner: PayloadOwner,
  codec: Codec | undefined,
): Failure | undefined {
  if (!failure) return undefined;
  const { type, code, byTool, answered, broke, handed, text } = failure;
  const decoded = text && codec?.decode(text, owner);
  const texts = decoded?.ok ? decoded.value : undefined;
  const [line, said] = [peek(texts, "line"), peek(texts, "said")].map((each) =>
    typeof each === "string" ? each : undefined,
  );
  return { type, code, byTool, answered, broke, handed, line, said };
}

/** A failed answer whose body has not come by then is told without it. */
const BODY_MS = 250;

/** What it failed with, as far as it may be told. In a transaction it was not judged, and so not looked at before. */
export async function failureIn(
  ended: Ended<Result>,
  { status, thrown }: Pick<Judgement, "status" | "thrown">,
  token: WireToken,
  { tool }: Operation,
  { codec, clock }: Engine,
): Promise<Failure | undefined> {
  let body: unknown = ended.ok ? ended.value.kept?.body : undefined;
  if (body === undefined && status !== undefined && status >= 400) {
    const read = await withTimeLimit(clock, BODY_MS, failedBody(token, status));
    body = read.tag === "done" ? read.value : undefined;
  }
  const said = status === undefined || status < 400 ? undefined : body;
  const failed = ended.ok ? undefined : (thrown ?? lookAt(ended.error));
  return redactFailure(failureOf(failed, said), tool.name, codec);
}
