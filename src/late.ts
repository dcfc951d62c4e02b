/**
 * What a holdfire loads at its first call: the engine's steps, the gate, and the hands in the ledger.
 * Importing holdfire loads none of it.
 *
 * @module
 */

export { createFetch } from "./adapters/fetch.ts";
export { operationsOf } from "./engine/operations.ts";
export { perform } from "./engine/perform.ts";
export { prune } from "./engine/prune.ts";
export { lookUpIn } from "./engine/status.ts";
export { approvalsOf } from "./gate/approvals.ts";
export { gatesOf } from "./gate/gates.ts";
export { driftReport } from "./reconcile/drift.ts";
export { reconcile } from "./reconcile/reconcile.ts";
