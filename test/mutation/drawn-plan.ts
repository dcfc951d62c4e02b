/**
 * A plugin for Stryker that leaves nothing but drawn mutants in its plan.
 *
 * Stryker itself can be told which lines to mutate, but not which mutants. It shows its reporters the plan before it follows
 * it, and this reporter takes out of that very list what was not drawn. `measure.ts` checks that it was followed.
 *
 * @module
 */

import { relative } from "node:path";
import { cwd } from "node:process";
import type { Stryker } from "@stryker-mutator/core";
import { draw } from "./sample.ts";

type Mutant = Awaited<ReturnType<Stryker["runMutationTest"]>>[number];

interface Plan {
  /** A mutant that is excluded has an early result. */
  readonly plan: "Run" | "EarlyResult";
  readonly mutant: Mutant;
}

/** What the next run of Stryker is to draw. */
export interface Draw {
  readonly count: number;
  readonly seed: number;
  /** Called with each drawn mutant once it was judged. */
  readonly onJudged: (mutant: Mutant) => void;
}

let current: (Draw & { population?: number }) | undefined;

export const PLUGIN: string = import.meta.url;
export const REPORTER = "drawn-plan";

/** Runs Stryker with a plan of drawn mutants. Tells how many there were to draw from. */
export async function withDraw<T>(
  wanted: Draw,
  run: () => Promise<T>,
): Promise<{ readonly result: T; readonly population: number }> {
  const own: typeof current = { ...wanted };
  current = own;
  const result = await run();
  current = undefined;
  if (own.population === undefined) throw new Error("Stryker has shown no plan to its reporters.");
  return { result, population: own.population };
}

function onMutationTestingPlanReady({ mutantPlans }: { readonly mutantPlans: Plan[] }): void {
  if (current === undefined) return;
  const all = mutantPlans.filter(({ plan }) => plan === "Run");
  current.population = all.length;
  mutantPlans.splice(0, mutantPlans.length, ...draw(all, nameOf, current));
}

const onMutantTested = (mutant: Mutant): void => current?.onJudged(mutant);

/** The same on each machine. */
function nameOf({ mutant: { fileName, location, mutatorName, replacement } }: Plan): string {
  const { start, end } = location;
  const place = `${start.line}:${start.column}-${end.line}:${end.column}`;
  return `${relative(cwd(), fileName)} ${place} ${mutatorName} ${replacement}`;
}

export const strykerPlugins: readonly object[] = [
  { kind: "Reporter", name: REPORTER, value: { onMutationTestingPlanReady, onMutantTested } },
];
