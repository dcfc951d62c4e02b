/**
 * The holdfire of the examples. `npx holdfire init` writes one for your project, whose ledger is a file and
 * outlives the process; this one is in memory, has OpenTelemetry on, and when it is closed, the bank says how often it has paid.
 *
 * @module
 */

import { createHoldfire, type Holdfire } from "holdfire";
import { memoryStore } from "holdfire/memory";
import { world } from "./bank.ts";
import { trace } from "./support/telemetry.ts";

const store = memoryStore();

export const hf: Holdfire = createHoldfire({
  app: "payments-example",
  store: {
    ...store,
    async close() {
      await store.close();
      await world.end();
    },
  },
});

trace(hf);
