/**
 * What holdfire is tested with, for those who test against it: a service that fails on demand, the
 * contracts of stores and adapters, and a proof of what a tool claims.
 *
 * Subpath export `"holdfire/testing"`. It imports no test runner: the two contracts register their tests with the
 * `describe` and `test` that are passed to them, or with the global ones.
 *
 * @module
 */

export {
  type AdapterCall,
  type AdapterCapabilities,
  type AdapterContractOptions,
  type AdapterScenario,
  type AdapterSetup,
  adapterContract,
  adapterScenarios,
  type Hand,
  type HandedCall,
  handedScenarios,
  PAY_SCHEMA,
  type PayArguments,
  type PayDefinition,
  type PayIntent,
} from "./adapter-contract.ts";
export {
  type Arrival,
  type CreateOptions,
  closedPort,
  type EffectBody,
  type EffectQuery,
  type Fault,
  type FaultyService,
  type FaultyServiceOptions,
  faults,
  type LoggedEffect,
  type ReadArrival,
  type ReadFault,
  type ReadOptions,
  type RecordBody,
  readFaults,
  type ServiceAnswerError,
  type ServiceClient,
  type ServiceClientOptions,
  startFaultyService,
  TOOL_CLASSES,
  type ToolClass,
} from "./faulty-service.ts";
export {
  type Claim,
  type ClaimVerdict,
  type ProbedRequest,
  type Proof,
  proveTool,
  type Sandbox,
} from "./prove-tool.ts";
export type { TestContext, TestRunner } from "./runner.ts";
export {
  type StoreCapabilities,
  type StoreContractOptions,
  storeContract,
  type TestClock,
} from "./store-contract.ts";
