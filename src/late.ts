/**
 * What a holdfire loads at its first call: the engine's steps, the gate, and the hands in the ledger.
 * Importing holdfire loads none of it.
 *
 * @module
 */

export { operationsOf } from "./engine/operations.ts";
export { perform } from "./engine/perform.ts";
export { prune } from "./engine/prune.ts";
export { approvalGate } from "./gate/approval.ts";
export { approvalsOf } from "./gate/approvals.ts";
