/**
 * The oldest Node that can run holdfire, said before something fails for want of a newer one.
 *
 * @module
 */

/** What package.json asks for in `engines`. */
const OLDEST = { major: 22, minor: 18 };

/** What is wrong with a version such as `"20.20.2"`; `undefined` if nothing is. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isOld = major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor);
  if (!isOld) return undefined;
  return `holdfire needs Node ${OLDEST.major}.${OLDEST.minor} or newer; this is ${version}.`;
}
