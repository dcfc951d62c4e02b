/**
 * Sweeps one call: counts its system calls, strikes at each of them, recovers, and lets the judge say
 * what was broken.
 *
 * @module
 */

import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { FaultyService } from "../../src/testing/faulty-service.ts";
import { atMost } from "../processes/at-most.ts";
import { startChild } from "../processes/child.ts";
import { judge } from "./judge.ts";
import { elsewhere, type Point, pointsIn } from "./points.ts";
import type { Recovered, RecoverOrder } from "./recoverer.ts";
import { FAULTS, type Fault, type Struck, strike, traceCall } from "./strike.ts";
import type { Swept, SweptClass } from "./tools.ts";

/** One sweep: of what call, and on what ledger. */
export interface Sweep {
  readonly class: SweptClass;
  /** `new`: the call makes it. `used`: another process has called before, and closed it. */
  readonly ledger: "new" | "used";
}

/** One call that was struck. */
export interface Trial {
  readonly swept: Swept;
  readonly fault: Fault;
  readonly aimed: Point;
  readonly struck: Struck;
}

export interface Swath {
  /** All points of the call. */
  readonly points: readonly Point[];
  readonly trials: readonly Trial[];
  /** The aims that no trial has met. */
  readonly missed: readonly Point[];
  /** What threads other than the main one leave behind. */
  readonly elsewhere: readonly Point[];
  readonly broken: readonly string[];
}

/** The machine of a test has two cores, or shares them. */
const AT_ONCE = 2;
/**
 * Node makes system calls of its own: it wakes its threads by writes, and opens files when it first needs them. How many
 * varies from run to run, and shifts the numbers. The odds of a miss are below one in two, and the next aim goes by what
 * the missed one saw.
 */
const STRIKES_AT_MOST = 30;
const TRACES_AT_MOST = 10;

export async function sweepCall(
  { class: toolClass, ledger }: Sweep,
  service: FaultyService,
  folder: string,
  every: number,
): Promise<Swath> {
  const used = join(folder, "used");
  const sweptIn = (name: string): Swept => ({
    item: name,
    class: toolClass,
    path: join(folder, name, "ledger.db"),
    url: service.url,
  });
  const newPlace = async (name: string): Promise<Swept> => {
    if (ledger === "used") await cp(used, join(folder, name), { recursive: true });
    else await mkdir(join(folder, name));
    return sweptIn(name);
  };
  const traceOf = (name: string): string => join(folder, `${name}.trace`);

  // The first run also fills the compile cache, and so has system calls that no later one has.
  await mkdir(used);
  await traceCall(sweptIn("used"), traceOf("used"));
  const { text, main, points } = await cleanTrace(async (round) => {
    const name = `clean-${round}`;
    return traceCall(await newPlace(name), traceOf(name));
  });
  const aims = FAULTS.flatMap((fault) => aimsOf(points, fault, every));
  let done = 0;
  const series = await atMost(AT_ONCE, aims, async ({ point, fault }) => {
    const trials: Trial[] = [];
    let nth = point.nth;
    while (trials.length < STRIKES_AT_MOST) {
      const name = `${fault}-${point.call}-${point.nth}-${trials.length}`;
      const swept = await newPlace(name);
      const struck = await strike(swept, { ...point, nth }, fault, traceOf(name));
      trials.push({ swept, fault, aimed: point, struck });
      if (isHit(point, struck)) break;
      nth = nearest(struck.right, nth) ?? nth + 1;
    }
    done += 1;
    if (done % 50 === 0) process.stdout.write(`sweep: ${toolClass}, ${done} of ${aims.length}\n`);
    return trials;
  });
  const trials = series.flat();
  return {
    points,
    trials,
    missed: series
      .filter((some) => !some.some(({ aimed, struck }) => isHit(aimed, struck)))
      .flatMap(([first]) => (first ? [first.aimed] : [])),
    elsewhere: elsewhere(text, main),
    broken: await recoverAndJudge(trials, service),
  };
}

/** `undefined` where none was seen: the fault came before it. */
function nearest(numbers: readonly number[], nth: number): number | undefined {
  return numbers.toSorted((a, b) => Math.abs(a - nth) - Math.abs(b - nth))[0];
}

/**
 * A trace whose points another one has as well. A call that the machine has held up renews its lease, and so has points
 * that no other call has.
 */
async function cleanTrace(trace: (round: number) => ReturnType<typeof traceCall>) {
  let last = "";
  for (let round = 1; round <= TRACES_AT_MOST; round += 1) {
    const { text, main } = await trace(round);
    const points = pointsIn(text, main);
    const told = points.map(({ call, target }) => `${call} ${target}`).join("\n");
    if (told === last) return { text, main, points };
    last = told;
  }
  throw new Error(`Of ${TRACES_AT_MOST} calls no two in a row made the same system calls.`);
}

/** Every n-th point, by turns for one fault and the other. */
function aimsOf(points: readonly Point[], fault: Fault, every: number) {
  const first = fault === "kill" ? 0 : Math.floor(every / 2);
  return points
    .filter((_, index) => index % every === first % every)
    .map((point) => ({ point, fault }));
}

const isHit = (aimed: Point, { point }: Struck): boolean =>
  point?.call === aimed.call && point.target === aimed.target;

async function recoverAndJudge(
  trials: readonly Trial[],
  service: FaultyService,
): Promise<readonly string[]> {
  const ofItem = ({ item }: Swept) => ({
    arrivals: service.arrivals.filter(({ intent }) => itemOf(intent) === item),
    effects: service.effects.filter(({ intent }) => itemOf(intent) === item),
  });
  const left = trials.map(({ swept }) => ofItem(swept).effects);
  const recovered = await recover(trials.map(({ swept }) => swept));
  return trials.flatMap(({ swept, fault, struck }, index) =>
    judge({
      swept,
      fault,
      struck,
      effectsLeft: left[index] ?? [],
      recovery: recovered.all.find(({ item }) => item === swept.item),
      ...ofItem(swept),
    }),
  );
}

async function recover(all: readonly Swept[]): Promise<Recovered> {
  const child = startChild("./recoverer.ts", import.meta.url);
  const order: RecoverOrder = { tag: "recover", all };
  child.send(order);
  const recovered = await child.next<Recovered>("recovered");
  await child.ended;
  return recovered;
}

function itemOf(intent: unknown): unknown {
  return typeof intent === "object" && intent !== null && "item" in intent
    ? intent.item
    : undefined;
}
