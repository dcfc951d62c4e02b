/**
 * What the S3 recipes share: an object that carries the key in its metadata, so it is known whose it is.
 *
 * @module
 */

import { statusOf } from "../classify/answer.ts";
import {
  absent,
  cannotTell,
  committed,
  type Reading,
  type StateQuery,
} from "../engine/define/reading.ts";

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

/** What S3 tells of an object. */
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
export async function putObject(
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

/** Looks whose the object is that is there now. */
export async function lookAt(
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

export const placeOf = ({
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
