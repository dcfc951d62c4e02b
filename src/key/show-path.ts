/**
 * Writes the path to a part of a value as a programmer would: `intent.items[3]["odd key"]`.
 *
 * @module
 */

/** A name may be a megabyte long, and is shown in an error message. */
const MAX_NAME_SHOWN = 64;

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

export function showPath(at: string, segments: readonly (string | number)[]): string {
  return at + segments.map(showSegment).join("");
}

function showSegment(segment: string | number): string {
  if (typeof segment === "number") return `[${segment}]`;
  const name = shorten(segment);
  return IDENTIFIER.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

export const shorten = (name: string): string =>
  name.length > MAX_NAME_SHOWN ? `${name.slice(0, MAX_NAME_SHOWN)}…` : name;
