/**
 * The process of the services: one real HTTP service for each cell, on a port of its own. It keeps its logs out of
 * reach of the stacks, and tells them to the battery alone.
 *
 * @module
 */

import {
  type Arrival,
  type Fault,
  type FaultyService,
  type LoggedEffect,
  type ReadArrival,
  type ReadFault,
  startFaultyService,
} from "../../../src/testing/faulty-service.ts";
import { serveParent } from "./remote.ts";

export interface ServiceLogs {
  readonly arrivals: readonly Arrival[];
  readonly reads: readonly ReadArrival[];
  readonly effects: readonly LoggedEffect[];
}

const POLL_MS = 5;
const services = new Map<string, FaultyService>();

function serviceOf(cell: string): FaultyService {
  const service = services.get(cell);
  if (!service) throw new Error(`There is no service of ${cell}.`);
  return service;
}

async function arrived(cell: string, count: number, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  const { arrivals } = serviceOf(cell);
  while (arrivals.length < count && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return arrivals.length >= count;
}

serveParent({
  async open(cell: string, keyMemoryMs: number) {
    const service = await startFaultyService({ keyMemoryMs });
    services.set(cell, service);
    return service.url;
  },
  plan: (cell: string, faults: readonly Fault[]) => serviceOf(cell).plan(...faults),
  always: (cell: string, fault: Fault | null) => serviceOf(cell).always(fault ?? undefined),
  alwaysRead: (cell: string, fault: ReadFault | null) =>
    serviceOf(cell).alwaysRead(fault ?? undefined),
  arrived,
  commitLate: (cell: string) => serviceOf(cell).commitLate(),
  logs(cell: string): ServiceLogs {
    const { arrivals, reads, effects } = serviceOf(cell);
    return { arrivals: [...arrivals], reads: [...reads], effects: [...effects] };
  },
  async close(cell: string) {
    await services.get(cell)?.close();
    services.delete(cell);
  },
});
