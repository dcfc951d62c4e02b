/**
 * Whether a commit comes, and can be read, within the time declared.
 *
 * @module
 */

import {
  broken,
  type Check,
  FAILS,
  HOLDS,
  ms,
  NEEDS_CUTS,
  said,
  spoiled,
  UNTESTED,
} from "./check.ts";
import type { Trials } from "./trial.ts";
import { isFound } from "./watch.ts";

/** A reader that cannot tell has said nothing about the time. */
const NOT_THERE = new Set<string>(["absent", "in_progress"]);

export function checkWindow(trials: Trials, withinMs: number, reader: boolean): readonly Check[] {
  if (!reader) return [UNTESTED("without readState it says nothing")];
  const { answered, lostReply, lostEarly } = trials;
  const unable = broken(trials);
  if (unable) return [unable];
  const tried = [answered, lostReply, lostEarly].filter((trial) => trial !== undefined);
  const shown = tried.filter((trial) => trial === answered || !spoiled(trial, true));
  const lags = shown.map(({ looks }) => looks.find(isFound)?.afterMs);
  if (lags.every((lag) => lag === undefined)) {
    return [UNTESTED("the reader never finds anything, so its absent says nothing")];
  }
  const late = shown.map(({ looks }) =>
    looks.find(({ afterMs, reading }) => afterMs > withinMs && NOT_THERE.has(reading)),
  );
  const at = late.findIndex((look) => look !== undefined);
  if (at >= 0) {
    const lag = lags[at];
    const then = lag === undefined ? "not found at all" : `found after ${ms(lag)}`;
    return [
      FAILS(
        `${ms(late[at]?.afterMs ?? 0)} after the end it was still ${said(late[at])}; ${then}, and ${ms(withinMs)} are declared`,
      ),
    ];
  }
  const untested = [lostReply, lostEarly].map((trial) =>
    trial ? spoiled(trial, true) : NEEDS_CUTS,
  );
  const slowest = Math.max(...lags.map((lag) => lag ?? 0));
  return [
    ...untested.filter((check) => check !== undefined),
    ...(lags.includes(undefined) ? [UNTESTED("the reader could not tell in time")] : []),
    HOLDS(
      `each commit was found within ${ms(slowest)} of ${ms(withinMs)}; a sample, not a guarantee`,
    ),
  ];
}
