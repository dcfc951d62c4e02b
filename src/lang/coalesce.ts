/**
 * Shares one run of some work among all callers that ask for it at the same time.
 *
 * @module
 */

/**
 * A caller that comes after a run has started waits for the next one: its question may be newer
 * than the answer of the first.
 */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let next: Promise<void> | undefined;
  return () => {
    next ??= Promise.resolve().then(() => {
      next = undefined;
      return work();
    });
    return next;
  };
}
