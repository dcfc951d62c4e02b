/**
 * Errors of SQLite, told apart by their result code.
 *
 * @module
 */

import type { Failure } from "./job.ts";

const BUSY = 5;
const LOCKED = 6;
/** Two connections raced for the write-ahead log; the next try gets it. */
const PROTOCOL = 15;
const PERM = 3;
const READONLY = 8;
const CORRUPT = 11;
const CANTOPEN = 14;
const NOTADB = 26;

export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return { message, errcode: errcodeOf(error) };
}

/** As `node:sqlite` would have thrown it. */
export function errorOf({ message, errcode }: Failure): Error {
  const error = new Error(message);
  return errcode === undefined
    ? error
    : Object.assign(error, { code: "ERR_SQLITE_ERROR", errcode });
}

/** Another connection has the lock; it passes. */
export function isBusy({ errcode }: Pick<Failure, "errcode">): boolean {
  const primary = primaryOf(errcode);
  return primary === BUSY || primary === LOCKED || primary === PROTOCOL;
}

/** What the file system says when a path is no good; a full disk is not among them. */
const BAD_PLACE: readonly unknown[] = [
  "EACCES",
  "EPERM",
  "EROFS",
  "ENOTDIR",
  "EEXIST",
  "ELOOP",
  "ENAMETOOLONG",
];

/** What is wrong with the file itself, for people; `undefined` if it is something else. */
export function fileProblem(error: unknown): string | undefined {
  if (error instanceof Error && "code" in error && BAD_PLACE.includes(error.code)) {
    return `cannot be made (${String(error.code)}). Check its folder.`;
  }
  switch (primaryOf(errcodeOf(error))) {
    case CORRUPT:
    case NOTADB:
      return "is not a SQLite database, or a damaged one. Move it away, or restore a copy.";
    case CANTOPEN:
    case PERM:
    case READONLY:
      return "cannot be opened for writing. Check the rights of the file and its folder.";
    default:
      return undefined;
  }
}

/** An extended code holds the primary one in its lowest byte. */
const primaryOf = (errcode: number | undefined): number | undefined =>
  errcode === undefined ? undefined : errcode & 0xff;

function errcodeOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return undefined;
  return typeof error.errcode === "number" ? error.errcode : undefined;
}
