/**
 * The crash suite of one store: every fault point, every class of service, several seeds.
 *
 * `SEEDS=200` runs more of them, `FROM=17 SEEDS=1` one again.
 *
 * @module
 */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findGround, type Ground } from "../processes/ground.ts";
import type { StoreName } from "../processes/place.ts";
import { campaign, type Judged } from "./campaign.ts";
import { CLASSES, type CrashClass, POINT_IDS, POINTS, type PointId } from "./points.ts";

const SEEDS = Number(process.env.SEEDS ?? 3);
const FROM = Number(process.env.FROM ?? 0);
/** Far more than a seed takes, on a machine that has better things to do. */
const MS_PER_SEED = 120_000;

export function crashSuite(store: StoreName): void {
  describe(`a process killed with its ledger in ${store}`, () => {
    let ground: Ground | undefined;
    let judged: readonly Judged[] = [];

    beforeAll(async () => {
      ground = await findGround(store);
      if (!ground) return;
      const started = performance.now();
      const seeds = Array.from({ length: SEEDS }, (_, index) => FROM + index);
      judged = await campaign(ground, seeds);
      const seconds = (performance.now() - started) / 1_000;
      process.stdout.write(`${tableOf(store, judged, seconds)}\n`);
    }, MS_PER_SEED * SEEDS);
    afterAll(() => ground?.stop());

    test.each(POINT_IDS)("%s", (point) => {
      if (!ground) return;
      const mine = judged.filter(({ trial }) => trial.point === point);
      expect(mine.flatMap(({ broken }) => broken)).toEqual([]);
      // A point that nobody came to has proved nothing.
      for (const toolClass of CLASSES) {
        expect(hits(mine, point, toolClass)).toBeGreaterThanOrEqual(SEEDS);
      }
    });
  });
}

function hits(judged: readonly Judged[], point: PointId, toolClass: CrashClass): number {
  return judged
    .filter(({ trial }) => trial.point === point)
    .flatMap(({ trial, reached }) => trial.wishes.filter(({ name }) => reached.has(name)))
    .filter((wish) => wish.class === toolClass).length;
}

function tableOf(store: StoreName, judged: readonly Judged[], seconds: number): string {
  const row = (cells: readonly (string | number)[]): string =>
    cells.map((cell, index) => (index === 0 ? String(cell).padEnd(6) : String(cell).padStart(12))).join("");
  const broken = judged.reduce((sum, one) => sum + one.broken.length, 0);
  return [
    `crash: ${store}, ${judged.length} kills at ${POINT_IDS.length} points, ${broken} promises broken, ${seconds.toFixed(0)} s`,
    row(["", ...CLASSES]),
    ...POINT_IDS.map(
      (point) =>
        `${row([point, ...CLASSES.map((toolClass) => hits(judged, point, toolClass))])}  ${POINTS[point].says}`,
    ),
  ].join("\n");
}
