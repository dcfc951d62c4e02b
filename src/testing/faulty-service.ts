/**
 * A faulty service: a real HTTP server on loopback that loses replies on demand, and logs what
 * arrived and what took effect, so that a test compares what a tool says with what happened.
 *
 * Subpath export `"holdfire/testing"`.
 *
 * @module
 */

export type {
  CreateOptions,
  EffectQuery,
  ReadOptions,
  RecordBody,
  ServiceAnswerError,
  ServiceClient,
  ServiceClientOptions,
} from "./faulty-service/client.ts";
export { closedPort } from "./faulty-service/closed-port.ts";
export { type Fault, faults } from "./faulty-service/fault.ts";
export type { Arrival, EffectBody, LoggedEffect, ReadArrival } from "./faulty-service/logs.ts";
export { type ReadFault, readFaults } from "./faulty-service/read-fault.ts";
export type { FaultyService, FaultyServiceOptions } from "./faulty-service/service.ts";
export { startFaultyService } from "./faulty-service/start.ts";
export { TOOL_CLASSES, type ToolClass } from "./faulty-service/tool-class.ts";
