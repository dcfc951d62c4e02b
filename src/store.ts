/**
 * What authors of stores need: the contract of a store, the records it keeps, and the rules that all
 * stores share. Subpath export `"holdfire/store"`.
 *
 * `fileWitness` is here for hosts that share one witness; the root loads no file system module.
 *
 * A store of your own passes `storeContract` from `holdfire/testing`. The contract itself, and what a new store of this package
 * needs, is in `ledger/store.ts`.
 *
 * @module
 */

export { pruneAs, wipePayloads } from "./ledger/prune.ts";
export { matches, pageLimit, pruneLimit } from "./ledger/query.ts";
export type {
  Answer,
  AttemptNote,
  Evidence,
  OperationRecord,
  Rejection,
  State,
  StateTag,
  Stored,
} from "./ledger/record.ts";
export type {
  Change,
  EnlistedStore,
  Found,
  Incarnation,
  LaneChange,
  LaneRecord,
  LeaseChange,
  ListQuery,
  Page,
  Pruned,
  PruneQuery,
  Store,
  StoredLane,
  StorePromise,
  Swapped,
} from "./ledger/store.ts";
export type { Mark, Witness } from "./ledger/witness/witness.ts";
export { type FileWitnessOptions, fileWitness } from "./ledger/witness/witness-file.ts";
