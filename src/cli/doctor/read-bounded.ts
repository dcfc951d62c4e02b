/**
 * Reads files of a project: what is missing, unreadable or far too long gives no result, never
 * an error.
 *
 * @module
 */

import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";

/** The text of a file, or `undefined`; the beginning only, if it is longer than `most` bytes. */
export function readStart(path: string, most: number): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, most));
    const read = readSync(file, bytes, 0, bytes.length, 0);
    return bytes.toString("utf8", 0, read);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** What a JSON file says, as a plain object; `undefined` if it is none. */
export function readJson(
  path: string,
  most: number,
): Readonly<Record<string, unknown>> | undefined {
  const text = readStart(path, most);
  try {
    const value: unknown = text === undefined ? undefined : JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The names in a folder; none if it cannot be read. */
export function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
