/**
 * How much memory one call allocates. Unlike time, it is the same on a busy machine.
 *
 * @module
 */

import { getHeapStatistics } from "node:v8";
import { median } from "../stores/measure.ts";

const LOTS = 9;
const CALLS = 50;

/** Kilobytes of one call, from the growth of the heap. A lot in which garbage was collected shows less. */
export async function allocatedKb(call: () => Promise<void>): Promise<number> {
  const lots: number[] = [];
  for (let lot = 0; lot < LOTS; lot += 1) {
    const before = getHeapStatistics().used_heap_size;
    for (let n = 0; n < CALLS; n += 1) await call();
    lots.push((getHeapStatistics().used_heap_size - before) / CALLS / 1_024);
  }
  return median(lots);
}
