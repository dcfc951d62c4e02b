/**
 * A stream of calls on a store that gets into trouble, as seen from outside.
 *
 * @module
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type FaultyService,
  faults,
  startFaultyService,
} from "../../src/testing/faulty-service.ts";
import { until } from "../engine/virtual-clock.ts";
import { type Child, startChild } from "../processes/child.ts";
import { judge } from "./judge.ts";
import type { Ended, StreamOrder, Told } from "./streamer.ts";
import type { TroubledStore } from "./trouble.ts";

export interface Streamed {
  readonly told: readonly Told[];
  /** Calls that were begun and told as committed while the store was in trouble. */
  readonly goneThrough: readonly Told[];
  /** How long after the store's return so many new calls had gone through; `undefined` if too long. */
  readonly backAfterMs: number | undefined;
  readonly suspicions: readonly string[];
  readonly broken: readonly string[];
}

/** Calls that go through before the trouble, and after it. */
const ENOUGH = 60;
/** Longer than the leases and the patience with the store. */
const TROUBLE_MS = 2_500;
/** In which a trouble has reached every connection. */
const SPREAD_MS = 300;
const BACK_WITHIN_MS = 5_000;

export async function streamThrough(store: TroubledStore): Promise<Streamed> {
  await using service = await startFaultyService();
  // So that some are on their way whenever the trouble begins.
  service.always(faults.slow({ ms: 15, commit: "before" }));
  const witness = await mkdtemp(join(tmpdir(), "holdfire-witness-"));
  const child = startChild("./streamer.ts", import.meta.url);
  try {
    return await stream(child, store, service, witness);
  } finally {
    child.kill();
    await child.ended;
    await rm(witness, { recursive: true, force: true });
  }
}

async function stream(
  child: Child,
  store: TroubledStore,
  service: FaultyService,
  witness: string,
): Promise<Streamed> {
  const order: StreamOrder = { tag: "stream", place: store.place, url: service.url, witness };
  child.send(order);
  const told: Told[] = [];
  const again: Told[] = [];
  // Until the process has ended, and all that it said was heard.
  const hearing = Promise.allSettled([hear(child, "told", told), hear(child, "again", again)]);
  const isDone = ({ status }: Told): boolean => status === "committed";
  const since = (from: number): readonly Told[] =>
    told.filter((one) => isDone(one) && one.begun > from);

  await until(() => since(0).length >= ENOUGH);
  const end = await store.begin(child.pid);
  const began = Date.now();
  await new Promise((resolve) => setTimeout(resolve, TROUBLE_MS));
  const ending = Date.now();
  await end();
  const ended = Date.now();
  await until(() => since(ended).length >= ENOUGH || Date.now() - ended > BACK_WITHIN_MS);
  const backAfterMs = since(ended).length >= ENOUGH ? Date.now() - ended : undefined;
  child.send({ tag: "enough" });
  const { suspicions } = await child.next<Ended>("ended");
  await child.ended;
  await hearing;
  return {
    told,
    goneThrough: told.filter(
      (one) => isDone(one) && one.begun > began + SPREAD_MS && one.at < ending,
    ),
    backAfterMs,
    suspicions,
    broken: judge({ told, again, arrivals: service.arrivals, effects: service.effects }),
  };
}

async function hear(child: Child, tag: Told["tag"], all: Told[]): Promise<never> {
  for (;;) all.push(await child.next<Told>(tag));
}
