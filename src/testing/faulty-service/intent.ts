/**
 * Reads a request's body as the intent it carries.
 *
 * @module
 */

export interface Intent {
  readonly intent: unknown;
  /** The same for equal intents, whatever the order of their fields. */
  readonly identity: string;
}

/** Deeper than any honest body, and far less than what would exhaust the stack. */
const DEEPEST = 200;

/** Returns `undefined` if the text is not JSON, or nested too deep. */
export function readIntent(text: string): Intent | undefined {
  try {
    const intent: unknown = JSON.parse(text);
    if (!freezeWithin(intent, DEEPEST)) return undefined;
    return { intent, identity: JSON.stringify(intent, sortFields) };
  } catch {
    return undefined;
  }
}

/** Frozen, because it goes into the logs. Says whether it is at most `levels` deep. */
function freezeWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  Object.freeze(value);
  return Object.values(value).every((inner) => freezeWithin(inner, levels - 1));
}

function sortFields(_name: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
