/**
 * Where the things of a storm are done: a service and a tool of each class, all on one ledger.
 *
 * @module
 */

import { COMMITS_WITHIN_MS, DAY_MS } from "../battery/fault.ts";
import type { Ground } from "../battery/run/ground.ts";
import type { Remote } from "../battery/run/remote.ts";
import type { ServiceLogs } from "../battery/run/service-process.ts";
import type { Place, Said, Tool } from "../battery/stack.ts";
import type { StackId } from "../battery/stacks.ts";
import type { StormOptions } from "./options.ts";
import { faultsOf, STORM_CLASSES, type StormClass } from "./weather.ts";

/** A machine that runs twelve processes is slow: what is given up too early is sent again for nothing. */
const TIMEOUT_MS = 5_000;

/**
 * A process that gets no turn for a second tells late what it found: with the default cooldown no other has sent by
 * then what it was right to call not applied.
 */
const RETRY = { cooldownMs: 30_000, storeTimeoutMs: 20_000 };

export interface Site {
  readonly cell: string;
  readonly tool: Tool;
  readonly place: Place;
}

export type Sites = Readonly<Record<StormClass, Site>>;

export async function openSites(
  stack: StackId,
  { intents, seed }: StormOptions,
  ground: Ground,
): Promise<Sites> {
  const { folder, schema, redisUrl, postgresUrl } = ground;
  const sites: [StormClass, Site][] = [];
  for (const [index, toolClass] of STORM_CLASSES.entries()) {
    const cell = `storm.${stack}.${toolClass}`;
    const url = await ground.services.ask<string>("open", cell, DAY_MS);
    await ground.services.ask("plan", cell, faultsOf(intents, seed + index));
    const times = { timeoutMs: TIMEOUT_MS, commitsWithinMs: COMMITS_WITHIN_MS };
    // The survivors have no caller to tell them the arguments: all of them are kept.
    const tool: Tool = { class: toolClass, url, ...times, keyMemoryMs: DAY_MS, wording: "none" };
    const where = { folder, schema, redisUrl, postgresUrl };
    const place: Place = { name: cell, ledger: "storm", retry: RETRY, ...where };
    sites.push([toolClass, { cell, tool, place }]);
  }
  return Object.fromEntries(sites) as Sites;
}

/** What the ledger says of all wishes, as one process sees it. */
export async function standingsIn(
  sites: Sites,
  worker: Remote | undefined,
): Promise<Readonly<Record<string, Said>>> {
  const all = Object.values(sites).map(({ cell }) =>
    worker?.ask<Readonly<Record<string, Said>>>("standings", cell),
  );
  return Object.assign({}, ...(await Promise.all(all)));
}

/** Each service numbers its own: an arrival is known by its class and its number. */
export async function logsOf(sites: Sites, ground: Ground): Promise<ServiceLogs> {
  const all = await Promise.all(
    Object.values(sites).map(({ cell }) => ground.services.ask<ServiceLogs>("logs", cell)),
  );
  return {
    arrivals: all.flatMap(({ arrivals }) => arrivals),
    reads: all.flatMap(({ reads }) => reads),
    effects: all.flatMap(({ effects }) => effects),
  };
}
