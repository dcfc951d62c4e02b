/**
 * The crash suite of one store: every fault point, every class of service, several seeds.
 *
 * Three seeds in a proof, elsewhere one. `SEEDS=200` runs more of them, `FROM=17 SEEDS=1 POINT=F5` one again.
 *
 * @module
 */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findGround, type Ground } from "../processes/ground.ts";
import type { StoreName } from "../processes/place.ts";
import { SIZE, sized } from "../proof.ts";
import { campaign, type JudgeFacts } from "./campaign.ts";
import { CLASSES, type CrashClass, POINT_IDS, POINTS, type PointId } from "./points.ts";

const SEEDS = sized("SEEDS", 3, 1);
const FROM = Number(process.env.FROM ?? 0);
const CHOSEN = POINT_IDS.filter((point) => (process.env.POINT ?? point) === point);
/** Far more than a seed takes, on a machine that has better things to do. */
const MS_PER_SEED = 120_000;

export function crashSuite(store: StoreName): void {
  describe(`a process killed with its ledger in ${store} (${SEEDS} seeds; ${SIZE})`, () => {
    let ground: Ground | undefined;
    let judged: readonly JudgeFacts[] = [];

    beforeAll(async () => {
      ground = await findGround(store);
      if (!ground) return;
      const started = performance.now();
      const seeds = Array.from({ length: SEEDS }, (_, index) => FROM + index);
      judged = await campaign(ground, CHOSEN, seeds);
      const seconds = (performance.now() - started) / 1_000;
      process.stdout.write(`${tableOf(store, judged, seconds)}\n`);
    }, MS_PER_SEED * SEEDS);
    afterAll(() => ground?.stop());

    const sentences = CHOSEN.map((point) => [`${point}, ${POINTS[point].says}`, point] as const);
    test.for(sentences)("%s: done once, or known to be in doubt", ([, point], { skip }) => {
      if (!ground) return skip();
      const mine = judged.filter(({ trial }) => trial.point === point);
      expect(mine.flatMap(({ broken }) => broken)).toEqual([]);
      // A point that nobody came to has proved nothing.
      for (const toolClass of CLASSES) {
        expect(countOf(hits(mine, point), toolClass)).toBeGreaterThanOrEqual(SEEDS);
      }
    });
  });
}

/** The doomed wishes of one point that came to their spot. */
function hits(judged: readonly JudgeFacts[], point: PointId): readonly Hit[] {
  return judged
    .filter(({ trial }) => trial.point === point)
    .flatMap(({ trial, reached, left, ends }) =>
      trial.wishes
        .filter(({ name }) => reached.has(name))
        .map((wish) => ({
          toolClass: wish.class,
          left: left[wish.name] ?? "",
          end: ends[wish.name] ?? "",
        })),
    );
}

interface Hit {
  readonly toolClass: CrashClass;
  readonly left: string;
  readonly end: string;
}

const countOf = (all: readonly Hit[], toolClass: CrashClass): number =>
  all.filter((hit) => hit.toolClass === toolClass).length;

function tableOf(store: StoreName, judged: readonly JudgeFacts[], seconds: number): string {
  const broken = judged.reduce((sum, one) => sum + one.broken.length, 0);
  const again = judged.reduce((sum, { askedAgain }) => sum + askedAgain, 0);
  const head = `crash: ${store}, ${judged.length} kills, ${broken} promises broken, ${again} asked again, ${seconds.toFixed(0)} s`;
  const rows = CHOSEN.map((point) => {
    const all = hits(judged, point);
    const counts = CLASSES.map((toolClass) => countOf(all, toolClass));
    const left = tallied(all.map((hit) => hit.left));
    return row([point, ...counts], `left ${left}; ended ${tallied(all.map(({ end }) => end))}`);
  });
  return [head, row(["", ...CLASSES], ""), ...rows].join("\n");
}

function row(cells: readonly (string | number)[], rest: string): string {
  const [first, ...others] = cells.map(String);
  return `${first?.padEnd(4)}${others.map((cell) => cell.padStart(12)).join("")}  ${rest}`;
}

function tallied(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${count} ${word}`).join(", ");
}
