/**
 * The one guarded operation that is swept: the same in the process that is struck and in the one that
 * recovers.
 *
 * @module
 */

import { createHoldfire, type Holdfire } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { createClient } from "../../src/testing/faulty-service/client.ts";
import type { EffectBody } from "../../src/testing/faulty-service/logs.ts";
import { lookUp } from "../crash/tools.ts";

/** What the service offers: keys, reads, or nothing. */
export const CLASSES = ["keyed", "readable", "neither"] as const;
export type SweptClass = (typeof CLASSES)[number];

/** One operation on a ledger of its own. */
export interface Swept {
  /** Unique: what is ordered. */
  readonly item: string;
  readonly class: SweptClass;
  readonly path: string;
  readonly url: string;
}

export interface Opened {
  readonly hf: Holdfire;
  readonly order: GuardedTool<{ readonly item: string }, EffectBody>;
}

export const SCOPE = { scope: "sweep" };
/** What is certainly not applied is fired again when it is asked for again, this much later. */
export const COOLDOWN_MS = 1;
const DAY_MS = 86_400_000;

export function openSwept({ class: toolClass, path, url }: Swept): Opened {
  const hf = createHoldfire({
    app: "sweep",
    store: sqliteStore({ path }),
    // As short as an owner that was killed needs to be waited for, and no shorter.
    retry: { leaseMs: 2_000, minDelayMs: 1, maxDelayMs: 50, cooldownMs: COOLDOWN_MS },
  });
  return { hf, order: orderTool(hf, toolClass, url) };
}

export function orderTool(hf: Holdfire, toolClass: SweptClass, url: string): Opened["order"] {
  const client = createClient(url, toolClass);
  return hf.tool<{ readonly item: string }, EffectBody>({
    name: `order_${toolClass}`,
    kind: "write",
    run: (args, { key, signal }) => client.create(args, { key, signal }),
    effect: { id: ({ id }) => id },
    attemptTimeoutMs: 2_000,
    ...powersOf(toolClass, url),
  });
}

function powersOf(toolClass: SweptClass, url: string) {
  switch (toolClass) {
    case "keyed":
      return { keyed: { forMs: DAY_MS } };
    case "readable":
      return { readState: lookUp(createClient(url, toolClass)), commitsWithinMs: 100 };
    case "neither":
      return {};
  }
}
