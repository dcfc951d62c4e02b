/**
 * Lets several processes ask for the same things, and counts what came of it: by what the service
 * logged, and by what each process was told.
 *
 * @module
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FaultyService } from "../../src/testing/faulty-service.ts";
import { type Child, startChild } from "./child.ts";
import type { Place } from "./place.ts";
import type { RaceOrder, RaceReport, Told } from "./racer.ts";

export interface Race {
  readonly processes: number;
  readonly items: readonly string[];
  readonly place: Place;
  readonly service: FaultyService;
  readonly toolClass: RaceOrder["toolClass"];
  readonly atOnce: number;
}

export interface Raced {
  readonly told: readonly Told[];
  readonly waits: number;
  readonly fired: number;
  readonly suspicions: readonly string[];
  readonly lost: readonly string[];
  /** Things that took effect more than once. */
  readonly duplicates: number;
  readonly effects: number;
  /** Requests that arrived. */
  readonly arrivals: number;
  /** Things of which not all processes were told the same: an effect that exists, under one key. */
  readonly disagreements: readonly string[];
}

export async function race(order: Race): Promise<Raced> {
  const { items, place, service, toolClass, atOnce } = order;
  const witness = await mkdtemp(join(tmpdir(), "holdfire-witness-"));
  const racers = Array.from({ length: order.processes }, () =>
    startChild("racer.ts", import.meta.url),
  );
  try {
    await Promise.all(
      racers.map((racer, seed) => {
        const { url } = service;
        const told: RaceOrder = {
          tag: "race",
          place,
          witness,
          url,
          toolClass,
          items,
          seed,
          atOnce,
        };
        racer.send(told);
        return racer.next("ready");
      }),
    );
    for (const racer of racers) racer.send({ tag: "go" });
    const reports = await Promise.all(racers.map((racer) => racer.next<RaceReport>("raced")));
    await Promise.all(racers.map(leave));
    return judge(order, reports);
  } finally {
    for (const racer of racers) racer.kill();
    await Promise.all(racers.map(({ ended }) => ended));
    await rm(witness, { recursive: true, force: true });
  }
}

/** It ends by itself: no timer and no connection keeps it. */
async function leave({ ended }: Child): Promise<void> {
  const { code, signal, stderr } = await ended;
  if (code !== 0) throw new Error(`A process ended with ${signal ?? code}.\n${stderr}`);
}

function judge({ items, service }: Race, reports: readonly RaceReport[]): Raced {
  const told = reports.flatMap((report) => report.told);
  const effects = new Map<string, string[]>();
  for (const { intent, effectId } of service.effects) {
    const { item } = intent as { readonly item: string };
    effects.set(item, [...(effects.get(item) ?? []), effectId]);
  }
  const byItem = new Map<string, Told[]>();
  for (const one of told) byItem.set(one.item, [...(byItem.get(one.item) ?? []), one]);
  const disagreements = items.flatMap((item) => {
    const all = byItem.get(item) ?? [];
    const [effectId] = effects.get(item) ?? [];
    const others = all.filter(
      (one) => one.status !== "committed" || one.effectId !== effectId || one.key !== all[0]?.key,
    );
    if (all.length === reports.length && effectId !== undefined && others.length === 0) return [];
    const said = others.map((one) => one.why ?? `${one.key} ${one.effectId}`);
    return [`${item}: told ${all.length} times, effect ${effectId}, but ${said.join(", ")}`];
  });
  const sum = (of: (report: RaceReport) => number): number =>
    reports.reduce((total, report) => total + of(report), 0);
  return {
    told,
    waits: sum((report) => report.waits),
    fired: sum((report) => report.fired),
    suspicions: reports.flatMap((report) => report.suspicions),
    lost: reports.flatMap((report) => report.lost),
    duplicates: [...effects.values()].filter(({ length }) => length > 1).length,
    effects: service.effects.length,
    arrivals: service.arrivals.length,
    disagreements,
  };
}
