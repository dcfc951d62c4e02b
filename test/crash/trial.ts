/**
 * One trial: which operations a process begins, and where it dies. All of it follows from the seed.
 *
 * @module
 */

import { type Fault, faults } from "../../src/testing/faulty-service.ts";
import { type Chance, createChance } from "../battery/world/chance.ts";
import { CLASSES, type CrashClass, POINTS, type PointId, type Spot } from "./points.ts";

/** One thing that is asked for. */
export interface Wish {
  readonly name: string;
  readonly class: CrashClass;
  /** Where its process dies; without it the wish is granted before. */
  readonly spot?: Spot | undefined;
  /** Which attempt that is. */
  readonly attempt: number;
  /** Makes requests of many sizes. */
  readonly filler: string;
  /** What a conditional service compares: that nobody has the name, or the version of a record. */
  readonly compares: "name" | "version";
  /** Who says yes, where somebody has to. */
  readonly yes?: "inbox" | "confirm" | undefined;
}

/** How the process dies with a write on its way to the store. */
export type Death =
  /** In the same turn of the event loop. */
  | { readonly tag: "at-once" }
  /** After so many turns, with the bytes flushed and no reply read. */
  | { readonly tag: "turns"; readonly turns: number }
  /** From another thread, in the middle of whatever goes on. */
  | { readonly tag: "thread"; readonly afterMs: number };

export interface Trial {
  readonly id: string;
  readonly point: PointId;
  readonly seed: number;
  readonly wishes: readonly Wish[];
  readonly death: Death;
  /** What happens to the first attempt, where the second is the one that counts. */
  readonly firstFault: Fault;
  /** What the service does with the requests of those who die waiting for the reply. */
  readonly holding: Fault;
  /** Where the process died whose work is recovered, where recovery itself is killed. */
  readonly diedAt: Spot;
}

const MAX_FILLER = 40_000;

export function trialFor(point: PointId, seed: number): Trial {
  const chance = createChance(seed * 1_009 + Number(point.slice(1)));
  const attempt = seed % 2 === 1 && point !== "F10" && point !== "F11" ? 2 : 1;
  const id = `${point}-${seed}`;
  return {
    id,
    point,
    seed,
    wishes: CLASSES.flatMap((toolClass) => [
      ...granted(toolClass, chance),
      ...doomed(toolClass, point, toolClass === "neither" ? 1 : attempt, chance),
    ]).map((wish) => ({ ...wish, name: `${id} ${wish.name}` })),
    death: deathFor(seed, chance),
    firstFault: chance.next() < 0.5 ? faults.resetBefore() : faults.hangUp({ commit: false }),
    holding: holdingFor(point, seed),
    diedAt: (["claimed", "sent", "replied"] as const)[seed % 3] ?? "claimed",
  };
}

function granted(toolClass: CrashClass, chance: Chance): Wish[] {
  return Array.from({ length: chance.between(1, 3) }, (_, index) => ({
    name: `${toolClass} granted ${index}`,
    class: toolClass,
    attempt: 1,
    filler: fillerFrom(chance),
    compares: "name" as const,
  }));
}

function doomed(toolClass: CrashClass, point: PointId, attempt: number, chance: Chance): Wish[] {
  const { spots } = POINTS[point];
  return [...spots, ...spots].map((spot, index) => ({
    name: `${toolClass} doomed ${index}`,
    class: toolClass,
    spot,
    attempt,
    filler: fillerFrom(chance),
    compares: index % 2 === 0 ? "name" : "version",
    yes: point !== "F11" ? undefined : index < spots.length ? "inbox" : "confirm",
  }));
}

/** Mostly short, sometimes more than one packet. */
function fillerFrom(chance: Chance): string {
  const length = chance.next() < 0.7 ? chance.between(0, 200) : chance.between(0, MAX_FILLER);
  return "x".repeat(length);
}

function deathFor(seed: number, chance: Chance): Death {
  if (seed % 3 === 0) return { tag: "at-once" };
  if (seed % 3 === 1) return { tag: "turns", turns: chance.between(1, 4) };
  return { tag: "thread", afterMs: chance.between(0, 8) };
}

function holdingFor(point: PointId, seed: number): Fault {
  if (point === "F6") return faults.trickle({ everyMs: 20 });
  if (seed % 3 === 0) return faults.blackHole({ commit: true });
  if (seed % 3 === 1) return faults.blackHole({ commit: false });
  return faults.slow({ ms: 60, commit: "after" });
}
