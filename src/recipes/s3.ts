/**
 * An object of S3, written only if the place is still as it was: free (`s3Create`), or with the content that
 * was there (`s3Replace`). It carries the key in its metadata, so a read can tell which operation wrote it.
 *
 * Source: the API reference of AWS, PutObject, If-None-Match and If-Match: 412 if the condition does not hold, 409 if another write
 * was under way, which is left in doubt and read. Other servers are not proven: MinIO answered a conditional write with 304
 * (minio/minio, issue 19442).
 *
 * @module
 */

import { createHash } from "node:crypto";
import { statusOf } from "../classify/answer.ts";
import type { ToolWithInput } from "../engine/define/definition.ts";
import {
  absent,
  cannotTell,
  committed,
  type Reading,
  type StateQuery,
} from "../engine/define/reading.ts";
import { typed } from "../engine/define/schema.ts";

/** How a request is given up. */
export interface S3Sending {
  readonly abortSignal?: AbortSignal;
}
/** Where an object is. */
export interface S3Place {
  readonly Bucket: string;
  readonly Key: string;
}
/** A write under a condition. */
export type S3Put = S3Place & {
  readonly Body: string;
  readonly ContentType?: string;
  readonly Metadata: Record<string, string>;
} & ({ readonly IfNoneMatch: string } | { readonly IfMatch: string });

/** What S3 answers about an object. */
export interface S3Version {
  readonly ETag?: string | undefined;
  readonly VersionId?: string | undefined;
}

/** The `S3` of `@aws-sdk/client-s3`, by structure (not `S3Client`, which needs its commands). */
export interface S3Like {
  putObject(input: S3Put, options?: S3Sending): Promise<S3Version>;
  headObject(
    input: S3Place,
    options?: S3Sending,
  ): Promise<S3Version & { readonly Metadata?: Record<string, string> | undefined }>;
}

/** Text to be written. */
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

/** Writes it, with the key in its metadata, if the condition holds. */
async function putObject(
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

/** Tells by the metadata which operation wrote the object that is there now. */
async function readObject(
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

const placeOf = ({
  bucket,
  name,
}: {
  readonly bucket: string;
  readonly name: string;
}): S3Place => ({
  Bucket: bucket,
  Key: name,
});

const objectOf = ({ ETag = "", VersionId }: S3Version): S3Object => ({
  etag: ETag,
  ...(VersionId !== undefined && { versionId: VersionId }),
});

/** A new object; one that is there already is left alone. */
export const s3Create = (options: { readonly s3: S3Like }): S3Tool => {
  const { s3 } = options;
  return {
    ...tool("s3_create", s3),
    run: (args, { key, signal }) => putObject(s3, args, key, { IfNoneMatch: "*" }, signal),
  };
};

/** New content for the object that is there, unless another writer was first. */
export const s3Replace = (options: { readonly s3: S3Like }): S3Tool => {
  const { s3 } = options;
  return {
    ...tool("s3_replace", s3),
    precondition: async (args) => {
      const { ETag } = await s3.headObject(placeOf(args));
      if (!ETag) throw new Error("The object has no ETag.");
      return ETag;
    },
    run: (args, { key, precondition, signal }) =>
      putObject(s3, args, key, { IfMatch: `${precondition}` }, signal),
  };
};

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
  precondition: "given",
  readState: (query) => readObject(s3, query),
});
