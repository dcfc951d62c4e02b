/** The tool of a process that is stopped in the middle of an attempt, and of the one that takes over. */

import { createHoldfire, type Holdfire } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";

export interface Payment {
  readonly order: string;
}

export interface Started {
  readonly tag: "start";
  readonly path: string;
  readonly url: string;
}

export interface Paid {
  readonly tag: "paid";
  readonly status: string;
}

export function openPayments(
  { path, url }: Started,
  beforeSending: () => Promise<void>,
): { readonly hf: Holdfire; readonly pay: GuardedTool<Payment, string> } {
  const hf = createHoldfire({ app: "test", store: sqliteStore({ path }), retry: { leaseMs: 500 } });
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    attemptTimeoutMs: 1_000,
    commitsWithinMs: 100,
    run: async ({ order }: Payment) => {
      await beforeSending();
      const response = await fetch(`${url}/${order}`, { method: "POST" });
      return response.text();
    },
    readState: async ({ intent }) => {
      const response = await fetch(`${url}/${intent.order}`);
      return response.status === 404 ? absent() : committed(await response.text());
    },
  });
  return { hf, pay };
}
