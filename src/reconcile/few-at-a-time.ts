/**
 * Works through a list, a few items at a time.
 *
 * @module
 */

/** A service that has just had an outage must not get all requests at once. */
const AT_ONCE = 8;

/** Starts no further item once `mayGoOn` returns `false`. Rejects with the first failure, after the running items have ended. */
export async function fewAtATime<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  mayGoOn: () => boolean,
): Promise<void> {
  const queue = items.values();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (failed || !mayGoOn()) return;
      try {
        await work(item);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const one of workers) if (one.status === "rejected") throw one.reason;
}
