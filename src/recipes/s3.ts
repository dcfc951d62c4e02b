/**
 * An object of S3, written only if the place is still as it was: free (`s3Create`), or with the content that
 * was there (`s3Replace`).
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { ToolWithInput } from "../engine/define/definition.ts";
import { typed } from "../engine/define/schema.ts";
import type { RecipeFacts } from "./facts.ts";
import {
  lookAt,
  placeOf,
  putObject,
  type S3Arguments,
  type S3Intent,
  type S3Like,
  type S3Object,
} from "./s3-object.ts";

/** A new object; one that is there already is left alone. */
export const s3Create = (options: { readonly s3: S3Like }): S3Tool => ({
  ...tool("s3_create", options.s3),
  run: (args, { key, signal }) => putObject(options.s3, args, key, { IfNoneMatch: "*" }, signal),
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
    putObject(options.s3, args, key, { IfMatch: `${precondition}` }, signal),
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
  precondition: "given",
  readState: (query) => lookAt(s3, query),
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
