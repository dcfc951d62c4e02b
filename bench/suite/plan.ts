/**
 * The plan past one machine: how many cores, servers and bytes 100,000 guarded calls a second take, by the
 * figures of this run. Arithmetic only; nothing of it was run.
 *
 * @module
 */

import { median } from "../stores/measure.ts";
import { type Figures, type Measure, roundsOf, shown } from "./figures.ts";
import type { Table } from "./rows.ts";

export const PLANNED_PER_SECOND = 100_000;
/** How busy a core may be, so that a second of twice the load passes. */
export const BUSY = 0.6;
/** Redis runs commands on one core; of Postgres a server of this size is taken. */
const CORES = { redis: 1, postgres: 16 } as const;
const DAY_S = 86_400;

export interface Needs {
  readonly clientCores: number;
  readonly serverCores: number;
  readonly servers: number;
  readonly bytesADay: number;
  readonly logBytesASecond: number | undefined;
}

/** `undefined` if the run did not measure it. */
export function needsOf(store: keyof typeof CORES, figures: Figures): Needs | undefined {
  const middle = (measure: Measure): number | undefined => {
    const rounds = roundsOf(figures, "sizing", store, "", measure);
    return rounds.length === 0 ? undefined : median(rounds);
  };
  const [client, server, bytes] = [middle("cpuUs"), middle("serverCpuUs"), middle("bytes")];
  if (client === undefined || server === undefined || bytes === undefined) return undefined;
  const coresFor = (cpuUs: number): number => (PLANNED_PER_SECOND * cpuUs) / 1e6 / BUSY;
  const log = middle("logBytes");
  return {
    clientCores: Math.ceil(coresFor(client)),
    serverCores: Math.ceil(coresFor(server)),
    servers: Math.ceil(coresFor(server) / CORES[store]),
    bytesADay: PLANNED_PER_SECOND * DAY_S * bytes,
    logBytesASecond: log === undefined ? undefined : PLANNED_PER_SECOND * log,
  };
}

export function planTable(figures: Figures): Table {
  const both = (["redis", "postgres"] as const).map((store) => needsOf(store, figures));
  const row = (what: string, text: (needs: Needs) => string): string[] => [
    what,
    ...both.map((needs) => (needs ? text(needs) : "not measured")),
  ];
  return {
    head: ["", "Redis Cluster", "partitioned Postgres"],
    rows: [
      row("round trips a second, new calls", () => shown(2 * PLANNED_PER_SECOND)),
      row("client cores", ({ clientCores }) => shown(clientCores)),
      row("server cores", ({ serverCores }) => shown(serverCores)),
      [
        "servers, without replicas",
        ...both.map((needs, at) =>
          needs
            ? `${shown(needs.servers)} ${at === 0 ? "primaries of 1 core" : "of 16 cores"}`
            : "not measured",
        ),
      ],
      row("WAL", ({ logBytesASecond }) =>
        logBytesASecond === undefined ? "–" : `${shown(logBytesASecond / 1e6)} MB/s in all`,
      ),
      row("kept for a day", ({ bytesADay }) => `${shown(bytesADay / 1e12)} TB`),
      row("kept for an hour", ({ bytesADay }) => `${shown(bytesADay / 24 / 1e9)} GB`),
    ],
  };
}
