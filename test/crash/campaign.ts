/**
 * Runs trials on one store: kills, kills recoveries, recovers, and lets the checker judge.
 *
 * Leases run out while other trials are killed, so that recovery hardly waits.
 *
 * @module
 */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FaultyService, startFaultyService } from "../../src/testing/faulty-service.ts";
import { until } from "../engine/virtual-clock.ts";
import { atMost } from "../processes/at-most.ts";
import { startChild } from "../processes/child.ts";
import type { Ground } from "../processes/ground.ts";
import type { Place } from "../processes/place.ts";
import { type Evidence, judge } from "./checker.ts";
import type { CrashOrder, Granted } from "./crasher.ts";
import type { PointId } from "./points.ts";
import type { Recovered, RecoverOrder, Verdict, Yes } from "./recoverer.ts";
import { type Trial, trialFor } from "./trial.ts";

/** What came of one trial. */
export interface JudgeFacts {
  readonly trial: Trial;
  readonly reached: ReadonlySet<string>;
  /** How the crash left each wish, and how each ended. */
  readonly left: Readonly<Record<string, string>>;
  readonly ends: Readonly<Record<string, string>>;
  /** How often somebody had to ask again to come that far. */
  readonly askedAgain: number;
  readonly broken: readonly string[];
}

/** A trial under way. */
interface Run {
  readonly trial: Trial;
  readonly service: FaultyService;
  readonly notes: string;
  granted: Granted["effects"];
  /** What the parent saw of it, where the child could not tell. */
  readonly seen: Set<string>;
}

/** The machine of a test has two cores, or shares them. */
const AT_ONCE = 2;
/** Recovered together: bounds what a long campaign holds at a time. */
const SEEDS_AT_ONCE = 5;
/** In which a child must come to its spots. */
const PATIENCE_MS = 30_000;

export async function campaign(
  ground: Ground,
  points: readonly PointId[],
  seeds: readonly number[],
): Promise<JudgeFacts[]> {
  const folder = await mkdtemp(join(tmpdir(), "holdfire-crash-"));
  const judged: JudgeFacts[] = [];
  try {
    for (let from = 0; from < seeds.length; from += SEEDS_AT_ONCE) {
      const place = await ground.ledger(from / SEEDS_AT_ONCE);
      const part = seeds.slice(from, from + SEEDS_AT_ONCE);
      judged.push(...(await round(points, part, place, join(folder, `round-${from}`), folder)));
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return judged;
}

async function round(
  chosen: readonly PointId[],
  seeds: readonly number[],
  place: Place,
  witness: string,
  folder: string,
): Promise<JudgeFacts[]> {
  // Recoveries that are killed come first: their leases must run out twice.
  const points = chosen.toSorted((one, other) => Number(other === "F10") - Number(one === "F10"));
  const runs = await Promise.all(
    points.flatMap((point) => seeds.map((seed) => prepare(trialFor(point, seed), folder))),
  );
  try {
    await atMost(AT_ONCE, runs, (run) => crash(run, place, witness, false));
    const again = runs.filter(({ trial }) => trial.point === "F10");
    await atMost(AT_ONCE, again, (run) => crash(run, place, witness, true));
    const judged = await atMost(AT_ONCE, points.toReversed(), (point) =>
      recover(
        runs.filter(({ trial }) => trial.point === point),
        place,
        witness,
      ),
    );
    return judged.flat();
  } finally {
    await Promise.all(runs.map(({ service }) => service.close()));
  }
}

/** Its own service, so that the faults meant for it meet nobody else. */
async function prepare(trial: Trial, folder: string): Promise<Run> {
  const service = await startFaultyService();
  const client = service.client("conditional");
  for (const { name, class: toolClass, compares } of trial.wishes) {
    if (toolClass === "conditional" && compares === "version") {
      await client.put(name, { written: "before" });
    }
  }
  const notes = join(folder, `${trial.id}.notes`);
  return { trial, service, notes, granted: {}, seen: new Set() };
}

/** A process comes to the point of its trial and is killed there. */
async function crash(run: Run, place: Place, witness: string, recovers: boolean): Promise<void> {
  const { trial, service } = run;
  const child = startChild("crasher.ts", import.meta.url);
  const notes = notesOf(run, recovers);
  const order: CrashOrder = {
    tag: "crash",
    trial,
    place,
    url: service.url,
    witness,
    notes,
    recovers,
  };
  const late = setTimeout(() => child.kill(), PATIENCE_MS);
  try {
    child.send(order);
    const { effects } = await child.next<Granted>("granted");
    if (!recovers) run.granted = effects;
    const isOver = child.ended.then(() => true);
    if (!recovers) arm(run);
    child.send({ tag: "go" });
    if (!recovers && diesWaiting(trial)) {
      await Promise.race([allArrived(run), isOver]);
      child.kill();
    }
    const { signal, code, stderr } = await child.ended;
    if (signal !== "SIGKILL")
      throw new Error(`${trial.id} ended with ${signal ?? code}.\n${stderr}`);
  } finally {
    clearTimeout(late);
    child.kill();
    service.always(undefined);
  }
}

const notesOf = ({ notes }: Run, recovers: boolean): string => (recovers ? `${notes}.2` : notes);

const diesWaiting = ({ point, diedAt }: Trial): boolean =>
  point === "F5" || (point === "F10" && diedAt === "sent");

function arm({ trial, service }: Run): void {
  const patient = trial.wishes.filter(({ attempt }) => attempt > 1);
  service.plan(...patient.map(() => trial.firstFault));
  if (diesWaiting(trial) || trial.point === "F6") service.always(trial.holding);
}

/** The service has each doomed request, and holds its reply. */
async function allArrived({ trial, service, seen }: Run): Promise<void> {
  const doomed = trial.wishes.filter(({ spot }) => spot !== undefined);
  await until(() => {
    for (const { name, attempt } of doomed) {
      const count = service.arrivals.filter(({ body }) => body.includes(`"${name}"`)).length;
      if (count >= attempt) seen.add(name);
    }
    return seen.size === doomed.length;
  });
}

/** A new process takes over what all trials of one point have left. */
async function recover(runs: readonly Run[], place: Place, witness: string): Promise<JudgeFacts[]> {
  const notes = await Promise.all(runs.map(readNotes));
  const arrivalsLeft = runs.map(({ service }) => service.arrivals.length);
  const child = startChild("recoverer.ts", import.meta.url);
  const order: RecoverOrder = {
    tag: "recover",
    place,
    witness,
    trials: runs.map(({ trial, service }, index) => ({
      trial,
      url: service.url,
      yeses: notes[index]?.yeses ?? [],
    })),
  };
  try {
    child.send(order);
    const first = await child.next<Recovered>("recovered");
    const arrivalsRecovered = runs.map(({ service }) => service.arrivals.length);
    child.send({ tag: "again" });
    const second = await child.next<Recovered>("repeated");
    await child.ended;
    return runs.map(({ trial, service, granted, seen }, index) => {
      // What a late fault still holds back must not make a liar of anybody.
      service.commitLate();
      const before = first.trials.find(({ id }) => id === trial.id);
      const after = second.trials.find(({ id }) => id === trial.id);
      const reached = new Set([...(notes[index]?.reached ?? []), ...reachedHere(trial, seen)]);
      const evidence: Evidence = {
        trial,
        reached,
        granted,
        left: before?.ledger ?? [],
        arrivalsLeft: arrivalsLeft[index] ?? 0,
        verdicts: before?.verdicts ?? [],
        arrivalsRecovered: arrivalsRecovered[index] ?? 0,
        repeated: after?.verdicts ?? [],
        ledger: after?.ledger ?? [],
        yesesTaken: after?.yesesTaken ?? [],
        suspicions: second.suspicions,
        arrivals: service.arrivals,
        effects: service.effects,
      };
      const failures = notes[index]?.failures ?? [];
      return {
        trial,
        reached,
        ...fatesOf(evidence),
        broken: [...judge(evidence), ...failures],
      };
    });
  } finally {
    child.kill();
  }
}

function fatesOf({ left, verdicts }: Evidence): Pick<JudgeFacts, "left" | "ends" | "askedAgain"> {
  const before = ({ id }: Verdict): string => left.find((one) => one.id === id)?.status ?? "absent";
  return {
    left: Object.fromEntries(verdicts.map((told) => [told.name, before(told)])),
    ends: Object.fromEntries(verdicts.map(({ name, status }) => [name, status])),
    askedAgain: verdicts.reduce((sum, { asked }) => sum + asked - 1, 0),
  };
}

const reachedHere = ({ point }: Trial, seen: ReadonlySet<string>): Iterable<string> =>
  point === "F5" ? seen : [];

interface Notes {
  readonly reached: readonly string[];
  readonly yeses: readonly Yes[];
  readonly failures: readonly string[];
}

/** Where recovery was killed, only what that process reached counts. */
async function readNotes(run: Run): Promise<Notes> {
  const text = await readFile(notesOf(run, run.trial.point === "F10"), "utf8").catch(() => "");
  const lines = text.split("\n");
  const after = (word: string): string[] =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  return {
    reached: after("reached"),
    yeses: after("yes").map((line) => {
      const [id = "", digest = ""] = line.split(" ");
      return { id, digest };
    }),
    failures: after("failed"),
  };
}
