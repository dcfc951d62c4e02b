/**
 * Whether a write's `If-Match` and `If-None-Match` hold.
 *
 * @module
 */

export interface Precondition {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

export function isUnconditional({ ifMatch, ifNoneMatch }: Precondition): boolean {
  return ifMatch === undefined && ifNoneMatch === undefined;
}

/** `version` is what is there now; `undefined` if nothing is. */
export function holds(
  { ifMatch, ifNoneMatch }: Precondition,
  version: string | undefined,
): boolean {
  if (ifMatch !== undefined && !names(ifMatch, version)) return false;
  return ifNoneMatch === undefined || !names(ifNoneMatch, version);
}

/** A version may come with its quotes or without. */
function names(header: string, version: string | undefined): boolean {
  if (version === undefined) return false;
  const listed = header.split(",").map((one) => bare(one.trim()));
  return listed.includes("*") || listed.includes(bare(version));
}

function bare(version: string): string {
  return version.startsWith('"') && version.endsWith('"') ? version.slice(1, -1) : version;
}
