/**
 * An outage of a provider, simulated: many processes call it, some resources are hot, and for a while every
 * answer is a 503. Seeded and in virtual time: the same seed gives the same run.
 *
 * The tool is keyed, with a `resource`. A 503 proves nothing, so the operation stays open: it is sent again
 * under its key as long as attempts, time and budget allow, and is unknown after that. An unknown one keeps
 * its lane until reconcile reads its state.
 *
 * @module
 */

import { seeded } from "../../src/gateway/break-answers.ts";
import { createLanes } from "./lanes.ts";
import type { Policy } from "./policies.ts";
import { createTimeline } from "./timeline.ts";

export interface Scenario {
  readonly seed: number;
  readonly seconds: number;
  readonly outage: { readonly from: number; readonly to: number };
  readonly processes: number;
  readonly callsPerSecond: number;
  /** How many requests the provider answers in a second; the rest get a 503. */
  readonly capacity: number;
  readonly answerMs: number;
  readonly lanes: number;
  /** The share of all calls that write to the one hot resource. */
  readonly hotShare: number;
  readonly deadlineMs: number;
  readonly reconcileEveryMs: number;
  /** How many states a sweep reads at the same time. */
  readonly readsAtOnce: number;
}

export const SCENARIO: Scenario = {
  seed: 14,
  seconds: 300,
  outage: { from: 60, to: 120 },
  processes: 20,
  callsPerSecond: 200,
  capacity: 400,
  answerMs: 80,
  lanes: 100_000,
  hotShare: 0.03,
  deadlineMs: 60_000,
  reconcileEveryMs: 30_000,
  readsAtOnce: 8,
};

export interface Second {
  first: number;
  resent: number;
  answered: number;
  hotWaiting: number;
  unknown: number;
}

/** What became of the calls. `settled_later`: unknown first, and read by reconcile. */
export interface Ends {
  committed: number;
  held: number;
  unknown: number;
  settled_later: number;
}

export interface Simulated {
  readonly policy: string;
  readonly seconds: readonly Second[];
  readonly calls: number;
  readonly ends: Ends;
  /** The most that were under way in one lane at the same time. */
  readonly mostInLane: number;
  readonly resentBy: readonly number[];
  readonly answeredBy: readonly number[];
}

const HOT = "hot";

export function simulate(scenario: Scenario, policy: Policy): Simulated {
  const { seconds: length, outage, processes, capacity, deadlineMs } = scenario;
  const random = seeded(scenario.seed);
  const timeline = createTimeline();
  const lanes = createLanes(timeline);
  const seconds = Array.from(
    { length },
    (): Second => ({
      first: 0,
      resent: 0,
      answered: 0,
      hotWaiting: 0,
      unknown: 0,
    }),
  );
  const fleet = Array.from({ length: processes }, () => policy.open(timeline.now, random));
  const resentBy = fleet.map(() => 0);
  const answeredBy = fleet.map(() => 0);
  const ends: Ends = { committed: 0, held: 0, unknown: 0, settled_later: 0 };
  const unknown = new Map<string, string>();
  const underWay = new Map<string, number>();
  let [calls, mostInLane, readers] = [0, 0, 0];

  const secondNow = (): Second | undefined => seconds[Math.floor(timeline.now() / 1_000)];
  const isDown = (): boolean => {
    const at = timeline.now() / 1_000;
    return at >= outage.from && at < outage.to;
  };
  /** Exponential, with this mean. */
  const drawn = (mean: number): number => -mean * Math.log(1 - random());

  function send(kind: "first" | "resent", answered: (isYes: boolean) => void): void {
    const second = secondNow();
    if (second) second[kind] += 1;
    const isOver = second !== undefined && second.first + second.resent > capacity;
    const isYes = !isDown() && !isOver;
    timeline.after(isYes ? drawn(scenario.answerMs) : 20, () => answered(isYes));
  }

  function begin(id: string, lane: string, process: number): void {
    const until = timeline.now() + deadlineMs;
    const pacing = fleet[process];
    const attempt = (n: number): void => {
      underWay.set(lane, (underWay.get(lane) ?? 0) + 1);
      mostInLane = Math.max(mostInLane, underWay.get(lane) ?? 0);
      if (n > 1) resentBy[process] = (resentBy[process] ?? 0) + 1;
      send(n === 1 ? "first" : "resent", (isYes) => {
        underWay.set(lane, (underWay.get(lane) ?? 0) - 1);
        if (isYes) return commit();
        const left = until - timeline.now();
        const waitMs = n < policy.attempts ? pacing?.pauseBefore(n + 1, left) : undefined;
        if (waitMs === undefined || waitMs >= left) return leaveUnknown();
        timeline.after(waitMs, () => attempt(n + 1));
      });
    };
    const commit = (): void => {
      pacing?.succeeded();
      answeredBy[process] = (answeredBy[process] ?? 0) + 1;
      ends.committed += 1;
      const second = secondNow();
      if (second) second.answered += 1;
      lanes.leave(lane, id);
    };
    const leaveUnknown = (): void => {
      ends.unknown += 1;
      unknown.set(id, lane);
    };
    lanes.enter(
      lane,
      id,
      () => attempt(1),
      () => {
        ends.held += 1;
      },
    );
  }

  function arrive(): void {
    if (timeline.now() >= length * 1_000) return;
    calls += 1;
    const lane =
      random() < scenario.hotShare ? HOT : `lane-${Math.floor(random() * scenario.lanes)}`;
    begin(`call-${calls}`, lane, Math.floor(random() * processes));
    timeline.after(drawn(1_000 / scenario.callsPerSecond), arrive);
  }

  /** A sweep reads a few at a time, once the provider answers. What is absent is settled as not applied. */
  function sweep(): void {
    if (timeline.now() < length * 1_000) timeline.after(scenario.reconcileEveryMs, sweep);
    if (isDown() || readers > 0) return;
    const found = [...unknown].values();
    const readNext = (): void => {
      const { value: [id, lane] = [] } = found.next();
      if (id === undefined || lane === undefined) {
        readers -= 1;
        return;
      }
      timeline.after(drawn(scenario.answerMs), () => {
        unknown.delete(id);
        ends.unknown -= 1;
        ends.settled_later += 1;
        lanes.leave(lane, id);
        readNext();
      });
    };
    readers = scenario.readsAtOnce;
    for (let reader = 0; reader < scenario.readsAtOnce; reader += 1) readNext();
  }

  function look(): void {
    const second = secondNow();
    if (!second) return;
    second.hotWaiting = lanes.waiting(HOT);
    second.unknown = unknown.size;
    timeline.after(1_000, look);
  }

  timeline.after(0, arrive);
  timeline.after(scenario.reconcileEveryMs, sweep);
  timeline.after(500, look);
  timeline.run();
  return { policy: policy.name, seconds, calls, ends, mostInLane, resentBy, answeredBy };
}
