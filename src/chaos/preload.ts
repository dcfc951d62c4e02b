/**
 * Loaded before the agent's own code, in each of its Node processes, by `holdfire chaos`: watches what it sends and
 * breaks the one reply that it is told to. Without orders it does nothing.
 *
 * @module
 */

import { type Orders, readOrders } from "./orders.ts";
import { handOnOrders } from "./watch/children.ts";
import { openJournal } from "./watch/journal.ts";
import { preferHttp1, watchHttp } from "./watch/watch-http.ts";
import { watchMcp } from "./watch/watch-mcp.ts";

function watch(orders: Orders): void {
  const journal = openJournal(orders);
  preferHttp1();
  handOnOrders({ ...process.env });
  watchHttp(journal, orders);
  watchMcp(journal);
}

try {
  const orders = readOrders(process.env);
  if (orders) watch(orders);
} catch (error) {
  process.stderr.write(`holdfire chaos: this process is not watched: ${String(error)}\n`);
}
