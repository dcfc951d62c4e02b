/**
 * Works through a list, a few at a time.
 *
 * @module
 */

/** Takes up no more once `mayGoOn` says no. The first failure ends it, after those under way. */
export async function atOnce<T>(
  count: number,
  items: readonly T[],
  work: (item: T) => Promise<void>,
  mayGoOn: () => boolean,
): Promise<void> {
  const queue = items.values();
  let failed = false;
  const lane = async (): Promise<void> => {
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
  const lanes = await Promise.allSettled(Array.from({ length: count }, lane));
  for (const one of lanes) if (one.status === "rejected") throw one.reason;
}
