/**
 * The one tool of the contract, over the faulty service, with as much power as a scenario gives it.
 *
 * @module
 */

import { absent, committed, duplicated } from "../../engine/define/reading.ts";
import { typed } from "../../engine/define/schema.ts";
import type { FaultyService } from "../faulty-service/service.ts";
import type { PayArguments, PayDefinition } from "./drive.ts";

export interface PayPowers {
  /** @default true */
  readonly keyed?: boolean | undefined;
  /** @default true */
  readonly readable?: boolean | undefined;
}

const DAY_MS = 86_400_000;

export function payTool(
  service: FaultyService,
  { keyed = true, readable = true }: PayPowers,
): PayDefinition {
  const client = service.client(
    keyed ? (readable ? "keyed_readable" : "keyed") : readable ? "readable" : "neither",
  );
  return {
    name: "pay",
    kind: "write",
    input: typed<PayArguments>(),
    intent: ({ paymentId, amount }) => ({ paymentId, amount }),
    run: (args, { key, signal }) => client.create(args, { key, signal }),
    // Longer than any test waits: no scenario may end well by a timeout.
    attemptTimeoutMs: 60_000,
    effect: { type: () => "created", id: ({ id }) => id },
    keyed: keyed ? { forMs: DAY_MS } : undefined,
    readState: readable
      ? async ({ key, signal }) => {
          const found = await client.find({ key }, { signal });
          const [first] = found;
          if (!first) return absent();
          return found.length > 1 ? duplicated(found) : committed(first, { effectId: first.id });
        }
      : undefined,
  };
}
