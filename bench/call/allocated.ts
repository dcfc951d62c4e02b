/**
 * How much memory one call allocates. Unlike time, it is the same on a busy machine.
 *
 * @module
 */

import { getHeapStatistics } from "node:v8";

const LOTS = 9;
/** A slow call has fewer: all its lots together would take minutes. */
const LEAST_LOTS = 3;
const CALLS = 50;
const ENOUGH_MS = 200;

/**
 * Kilobytes of one call, from the growth of the heap. A lot in which garbage was collected shows less than
 * was allocated, and none shows more: the highest counts.
 */
export async function allocatedKb(call: () => Promise<void>): Promise<number> {
  const lots: number[] = [];
  const enough = performance.now() + ENOUGH_MS;
  while (lots.length < LEAST_LOTS || (lots.length < LOTS && performance.now() < enough)) {
    const before = getHeapStatistics().used_heap_size;
    for (let n = 0; n < CALLS; n += 1) await call();
    lots.push((getHeapStatistics().used_heap_size - before) / CALLS / 1_024);
  }
  return Math.max(...lots);
}
