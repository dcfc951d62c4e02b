/**
 * What a holdfire loads at its first call: the engine's steps, the gate, and the hands in the ledger.
 * Importing holdfire loads none of it.
 *
 * @module
 */

export { operationsOf } from "./engine/admin/operations.ts";
export { prune } from "./engine/admin/prune.ts";
export { lookUpIn } from "./engine/admin/status.ts";
export { perform } from "./engine/call/perform.ts";
export { approvalsOf } from "./gate/approvals.ts";
export { gatesOf } from "./gate/gate.ts";
export { createFetch } from "./integrations/fetch/index.ts";
export { driftReport } from "./reconcile/drift.ts";
export { reconcile } from "./reconcile/reconcile.ts";
