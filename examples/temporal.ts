/**
 * Temporal: an activity that pays, and is run again because its worker died. One payout.
 *
 * Temporal itself is not started here: an activity is a function, and what it needs of Temporal are the ids
 * of the step. In your worker it is
 *
 *     import { Context } from "@temporalio/activity";
 *     const activities = createActivities(() => Context.current().info);
 *     await Worker.create({ taskQueue, workflowsPath, activities });
 *
 * Run it as it is: npx node examples/temporal.ts
 *
 * @module
 */

import { createHoldfire } from "holdfire";
import { scopeFrom } from "holdfire/durable";
import { memoryStore } from "holdfire/memory";
import { type Payout, startWorld } from "./support/world.ts";

const { bank, end } = await startWorld({ keyed: true });
// Yours would be on Redis or Postgres: the next attempt may run on another worker.
const hf = createHoldfire({ app: "payments-example", store: memoryStore() });

const pay = hf.tool({
  name: "pay",
  kind: "write",
  keyed: { forMs: 24 * 3_600_000 },
  run: (payout: Payout, { key, signal }) => bank.pay(payout, { key, signal }),
});

/** What an activity knows of itself, as `Context.current().info` has it. */
interface Info {
  readonly activityId: string;
  readonly workflowExecution: { readonly workflowId: string; readonly runId: string };
  readonly workflowNamespace: string;
}

function createActivities(info: () => Info) {
  return {
    /** The ids stay the same however often Temporal runs it. */
    async payInvoice(payout: Payout): Promise<string> {
      const paid = await hf.scope(scopeFrom.temporal(info()), () => pay(payout));
      return `paid: ${paid.payee}, ${(paid.cents / 100).toFixed(2)}`;
    },
  };
}

const { payInvoice } = createActivities(() => ({
  activityId: "1",
  workflowExecution: { workflowId: "invoice-7", runId: "0190b6e2" },
  workflowNamespace: "default",
}));

console.log(await payInvoice({ payee: "ana", cents: 40_00 }));
// The worker died before Temporal heard of the result, and the activity is run again.
console.log(await payInvoice({ payee: "ana", cents: 40_00 }));
await end(hf);
