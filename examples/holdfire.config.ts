/**
 * The holdfire of the examples, with OpenTelemetry on. `npx holdfire init` writes one for your project, whose ledger is
 * `.holdfire/ledger.db`. This one is removed at the end: when it is closed, the bank says how often it has paid.
 *
 * @module
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHoldfire, type Holdfire } from "holdfire";
import { sqliteStore } from "holdfire/sqlite";
import { world } from "./bank.ts";
import { trace } from "./support/telemetry.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfire-example-"));

/** What the command line takes as `--store`. */
export const ledger: string = join(folder, "ledger.db");

const store = sqliteStore({ path: ledger });

export const hf: Holdfire = createHoldfire({
  app: "payments-example",
  store: {
    ...store,
    async close() {
      await store.close();
      rmSync(folder, { recursive: true });
      await world.end();
    },
  },
});

trace(hf);
