/**
 * Makes so many guarded calls on SQLite, and tells after each eighteenth of them how much heap is in use
 * once all garbage is collected.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { getHeapStatistics } from "node:v8";
import { newOrder } from "../call/guard.ts";
import { openHoldfire } from "../call/holdfire.ts";
import { SAMPLES } from "./heap.ts";

const CALLERS = 100;
const [calls = "0", folder = ""] = process.argv.slice(2);
const each = Math.ceil(Number(calls) / (2 * SAMPLES));
const checkout = fileURLToPath(new URL("../..", import.meta.url));

const place = { folder, name: "heap", redisUrl: "", postgresUrl: "" };
const guard = await openHoldfire(checkout, "sqlite")(
  async ({ n }) => ({ id: `receipt-${n}`, n }),
  place,
);

let next = 1;
async function make(count: number): Promise<void> {
  const until = next + count;
  const caller = async (): Promise<void> => {
    while (next < until) {
      next += 1;
      await guard.call(newOrder(next - 1));
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

/** Twice: what the first one finalises, the second one collects. */
async function collectGarbage(): Promise<void> {
  const { gc } = globalThis as { gc?: () => void };
  gc?.();
  await new Promise((resolve) => setImmediate(resolve));
  gc?.();
}

await make(each);
for (let sample = 0; sample < 2 * SAMPLES; sample += 1) {
  await make(each);
  await collectGarbage();
  process.send?.(getHeapStatistics().used_heap_size / 2 ** 20);
}
await guard.close();
process.disconnect();
