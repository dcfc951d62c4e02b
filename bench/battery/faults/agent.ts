/**
 * What agents and people do: ask again, in other words, on purpose, or for many things at once.
 *
 * @module
 */

import { type Fault, faults, readFaults } from "../../../src/testing/faulty-service.ts";
import { type FaultCase, first, metFault, notForSdk, ONE, wish } from "../fault.ts";

/** A name is free once: the service itself refuses a second one. */
const notForUniqueNames: NonNullable<FaultCase["notFor"]> = (toolClass) =>
  toolClass === "conditional" ? "a unique name cannot be wanted twice" : undefined;

/** As good as no fault, where another is planned for the next request. */
const NO_FAULT: Fault = faults.slow({ ms: 0, commit: "before" });
const LOST: Fault = faults.hangUp({ commit: true });

/** The amount is another one in the next turn. */
const CHANGED = [
  { ...wish("w1"), isDropped: true },
  { ...wish("w2"), cents: 5_000 },
];
/** Between the two branches. */
const BETWEEN_MS = 200;
const TWICE = [wish("w1"), wish("w2")];
const SIX = Array.from({ length: 6 }, (_, index) => wish(`w${index}`, `item-${index}`));
const TEN = Array.from({ length: 10 }, (_, index) => wish(`w${index}`, `item-${index}`));

export const agent: readonly FaultCase[] = [
  {
    id: "late_branch",
    name: "one branch sends late, another asks too",
    group: "agent",
    wishes: ONE,
    tool: { also: "late_branch" },
    // The branch outlives its call: what it does is counted in its process.
    needsOwnProcess: true,
    notFor: notForSdk,
    async play(stage, wishes) {
      const ask = stage.ask(first(wishes));
      const slow = stage.call(ask);
      await stage.wait(BETWEEN_MS);
      await Promise.all([slow, stage.call(ask)]);
      await stage.lateSends();
    },
    wasMet: ({ lateSends }) => lateSends > 0,
  },
  {
    id: "try_again",
    name: "try again, in the next turn",
    group: "agent",
    wishes: ONE,
    async play(stage, wishes) {
      await stage.plan(LOST);
      await stage.alwaysRead(readFaults.status());
      const answer = await stage.call(stage.ask(first(wishes)));
      await stage.alwaysRead(undefined);
      // A person who was told that it is done has no reason to insist.
      if (answer?.said !== "done") {
        await stage.call(stage.ask(first(wishes), { turn: "turn-2" }));
      }
    },
    wasMet: metFault("hang_up"),
  },
  {
    id: "reworded",
    name: "called again in other words",
    group: "agent",
    wishes: ONE,
    async play(stage, wishes) {
      await stage.plan(LOST);
      await stage.call(stage.ask(first(wishes)));
      await stage.call(stage.ask(first(wishes), { note: "as the customer asked" }));
    },
    wasMet: metFault("hang_up"),
  },
  {
    id: "changed_plan",
    name: "open, then asked with another amount",
    group: "agent",
    wishes: CHANGED,
    notFor: (toolClass, stack) =>
      stack.isInMemory && toolClass !== "keyed"
        ? "a store that forgets reads before it sends, and the reader is down"
        : notForUniqueNames(toolClass, stack),
    async play(stage, [old = wish(), changed = wish()]) {
      await stage.always(LOST);
      await stage.alwaysRead(readFaults.status());
      await stage.call(stage.ask(old));
      await stage.always(undefined);
      await stage.alwaysRead(undefined);
      await stage.call(stage.ask(changed, { turn: "turn-2" }));
    },
    wasMet: (met) =>
      metFault("hang_up")(met) &&
      !met.evidence.told.some(({ wish: name, said }) => name === "w1" && said === "done"),
  },
  {
    id: "run_again",
    name: "the run is started again when it is done",
    group: "agent",
    wishes: ONE,
    async play(stage, wishes) {
      await stage.call(stage.ask(first(wishes)));
      await stage.call(stage.ask(first(wishes)));
    },
    wasMet: ({ evidence }) => evidence.told.length >= 2,
  },
  {
    id: "wanted_repeat",
    name: "wanted once more, in a later turn",
    group: "agent",
    wishes: TWICE,
    notFor: notForUniqueNames,
    async play(stage, [one = wish(), two = wish()]) {
      await stage.call(stage.ask(one));
      await stage.call(stage.ask(two, { turn: "turn-2" }));
    },
    wasMet: ({ evidence }) => evidence.told.length >= 2,
  },
  {
    id: "two_at_once",
    name: "two identical calls wanted at once",
    group: "agent",
    wishes: TWICE,
    notFor: notForUniqueNames,
    async play(stage, [one = wish(), two = wish()]) {
      await stage.plan(LOST);
      await Promise.all([
        stage.call(stage.ask(one)),
        stage.call(stage.ask(two, { again: "the second one" })),
      ]);
    },
    wasMet: metFault("hang_up"),
  },
  {
    id: "parallel_batch",
    name: "six calls at once, two replies lost",
    group: "agent",
    wishes: SIX,
    async play(stage, wishes) {
      await stage.plan(NO_FAULT, LOST, NO_FAULT, LOST);
      await Promise.all(wishes.map((one) => stage.call(stage.ask(one))));
    },
    wasMet: metFault("hang_up"),
  },
  {
    id: "send_queue",
    name: "one send queue, two of six replies lost",
    group: "agent",
    wishes: SIX,
    tool: { also: "send_queue" },
    notFor: notForSdk,
    async play(stage, wishes) {
      await stage.plan(NO_FAULT, LOST, NO_FAULT, LOST);
      await Promise.all(wishes.map((one) => stage.call(stage.ask(one))));
    },
    wasMet: metFault("hang_up"),
  },
  {
    id: "batch_job",
    name: "a job of ten, one reply lost",
    group: "agent",
    wishes: TEN,
    async play(stage, wishes) {
      await stage.plan(NO_FAULT, NO_FAULT, NO_FAULT, LOST);
      for (const one of wishes) await stage.call(stage.ask(one));
    },
    wasMet: metFault("hang_up"),
  },
];
