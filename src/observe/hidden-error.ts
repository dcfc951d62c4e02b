/**
 * A thrown error may hold credentials and personal data. It is there for those who ask for it by name,
 * and not for those who print or serialise the whole event.
 *
 * @module
 */

/** Makes `error` of this event not enumerable, in place. */
export function hideError<T extends object>(event: T): T {
  return "error" in event ? Object.defineProperty(event, "error", { enumerable: false }) : event;
}
