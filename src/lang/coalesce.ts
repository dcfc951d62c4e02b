/**
 * Shares one piece of work among all who ask for it at the same time.
 *
 * @module
 */

/** Whoever asks once it has begun waits for the next: what he asks about may have changed meanwhile. */
export function together(work: () => Promise<void>): () => Promise<void> {
  let next: Promise<void> | undefined;
  return () => {
    next ??= Promise.resolve().then(() => {
      next = undefined;
      return work();
    });
    return next;
  };
}
