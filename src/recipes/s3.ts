/**
 * An object of S3, written only if the place is still as it was: free (`s3Create`), or with the content that
 * was there (`s3Replace`). The key goes into the object's metadata, so it is known whose it is.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { statusOf } from "../classify/answer.ts";
import { absent, cannotTell, committed, type Reading, type StateQuery } from "../engine/reading.ts";
import { typed } from "../engine/schema.ts";
import type { ToolWithInput } from "../engine/tool.ts";
import type { RecipeFacts } from "./facts.ts";

interface Sending {
  readonly abortSignal?: AbortSignal;
}
interface Place {
  readonly Bucket: string;
  readonly Key: string;
}
type Put = Place & {
  readonly Body: string;
  readonly ContentType?: string;
  readonly Metadata: Record<string, string>;
} & ({ readonly IfNoneMatch: string } | { readonly IfMatch: string });

interface Version {
  readonly ETag?: string | undefined;
  readonly VersionId?: string | undefined;
}

/** The `S3` of `@aws-sdk/client-s3`, by structure (not `S3Client`, which needs its commands). */
export interface S3Like {
  putObject(input: Put, options?: Sending): Promise<Version>;
  headObject(
    input: Place,
    options?: Sending,
  ): Promise<Version & { readonly Metadata?: Record<string, string> | undefined }>;
}

export interface S3Arguments {
  readonly bucket: string;
  /** The name of the object. */
  readonly name: string;
  readonly body: string;
  readonly contentType?: string;
}

/** An object that is there. */
export interface S3Object {
  readonly etag: string;
  readonly versionId?: string;
}

/** The content is named by its hash. */
export interface S3Intent {
  readonly bucket: string;
  readonly name: string;
  readonly sha256: string;
}

const MARK = "holdfire-key";

/** A new object; one that is there already is left alone. */
export const s3Create = (options: { readonly s3: S3Like }): S3Tool => ({
  ...tool("s3_create", options.s3),
  run: (args, { key, signal }) => put(options.s3, args, key, { IfNoneMatch: "*" }, signal),
});

/** New content for the object that is there, unless somebody else was first. */
export const s3Replace = (options: { readonly s3: S3Like }): S3Tool => ({
  ...tool("s3_replace", options.s3),
  precondition: async (args) => {
    const { ETag } = await options.s3.headObject(placeOf(args));
    if (!ETag) throw new Error("The object has no ETag.");
    return ETag;
  },
  run: (args, { key, precondition, signal }) =>
    put(options.s3, args, key, { IfMatch: `${precondition}` }, signal),
});

/** What both give. */
export type S3Tool = ToolWithInput<S3Arguments, S3Intent, S3Object>;

const tool = (name: string, s3: S3Like): Omit<S3Tool, "run"> => ({
  name,
  kind: "write",
  service: "s3",
  input: typed<S3Arguments>(),
  intent: ({ bucket, name: object, body }) => {
    const sha256 = createHash("sha256").update(body).digest("hex");
    return { bucket, name: object, sha256 };
  },
  resource: ({ bucket, name: object }) => `s3/${bucket}/${object}`,
  conditional: true,
  readState: (query) => look(s3, query),
});

async function put(
  s3: S3Like,
  args: S3Arguments,
  key: string,
  condition: { readonly IfNoneMatch: string } | { readonly IfMatch: string },
  abortSignal: AbortSignal,
): Promise<S3Object> {
  const { body, contentType } = args;
  const type = contentType === undefined ? {} : { ContentType: contentType };
  const input = { ...placeOf(args), Body: body, ...type, Metadata: { [MARK]: key }, ...condition };
  return objectOf(await s3.putObject(input, { abortSignal }));
}

async function look(
  s3: S3Like,
  { intent, keys, signal }: StateQuery<S3Intent>,
): Promise<Reading<S3Object>> {
  const found = await s3.headObject(placeOf(intent), { abortSignal: signal }).catch((error) => {
    if (statusOf(error) === 404) return undefined;
    throw error;
  });
  if (!found) return absent();
  if (keys.includes(found.Metadata?.[MARK] ?? "")) return committed(objectOf(found));
  return cannotTell("another content is there");
}

const placeOf = ({ bucket, name }: { readonly bucket: string; readonly name: string }): Place => ({
  Bucket: bucket,
  Key: name,
});

const objectOf = ({ ETag = "", VersionId }: Version): S3Object => ({
  etag: ETag,
  ...(VersionId !== undefined && { versionId: VersionId }),
});

export const s3CreateFacts: RecipeFacts = {
  keyGoes: "the object's metadata",
  window: "for as long as the object exists: If-None-Match",
  reads: "the object's head, by metadata",
  cannotKnow: "an object that was deleted or written over since",
};

export const s3ReplaceFacts: RecipeFacts = {
  keyGoes: "the object's metadata",
  window: "until the object changes: If-Match on its ETag",
  reads: "the object's head, by metadata",
  cannotKnow:
    "content that was written over since; that the old content was put back, which lets it pass",
};
