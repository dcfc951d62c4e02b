/**
 * What the records of operations add up to, and what they cannot tell.
 *
 * @module
 */

import type { OperationView } from "../engine/admin/operations.ts";

/** Told with every result, so that a lower bound is not taken for a count. */
const CANNOT_TELL: readonly string[] = [
  'replays without a new tool-call id: an answer from the record is not recorded; listen to the event "outcome" with replayed: true',
  'requests that a guarded fetch refused before they were sent; listen to the event "warning" with code "hidden_retry"',
  "whether several requests of one attempt were a retry or several steps of the tool",
  "attempts of operations that were fired more often than the record keeps, or that were pruned",
];

export type Counts = Record<string, number>;

interface ToolStats {
  operations: number;
  fired: number;
  unknown: number;
  /** Requests of an attempt beyond the first. */
  extraRequests: number;
}

export interface Stats {
  readonly operations: number;
  readonly byStatus: Counts;
  readonly unknownReasons: Counts;
  /** How often a tool was fired in all. */
  readonly fired: number;
  /** Of the attempts still on record, those after the first, by what allowed them. */
  readonly firedAgain: Counts;
  readonly duplicatesSuppressed: {
    /** Calls with another tool-call id for an operation that already existed: at least this many. */
    readonly callsMetAgain: number;
    /** Lost replies that a read found, instead of a second send. */
    readonly foundByReading: number;
    /** Sends that the service recognised by our key. */
    readonly recognisedByService: number;
  };
  /** Replies that came after the time of their attempt was up. */
  readonly lateReplies: number;
  /** Attempts that sent more than one request, and their requests beyond the first. */
  readonly hiddenRetries: { readonly attempts: number; readonly extraRequests: number };
  readonly answers: { readonly yes: number; readonly no: number };
  /** Of those that were fired, the share that is unknown now; 0 if none was. */
  readonly unknownRate: number;
  readonly byTool: Readonly<Record<string, Readonly<ToolStats>>>;
  readonly cannotTell: readonly string[];
}

export interface Tally {
  add(operation: OperationView): void;
  /** What was added so far. */
  stats(): Stats;
}

const count = (counts: Counts, name: string): void => {
  counts[name] = (counts[name] ?? 0) + 1;
};

export function createTally(): Tally {
  const byTool = new Map<string, ToolStats>();
  const suppressed = { callsMetAgain: 0, foundByReading: 0, recognisedByService: 0 };
  const hiddenRetries = { attempts: 0, extraRequests: 0 };
  const answers = { yes: 0, no: 0 };
  const [byStatus, unknownReasons, firedAgain]: [Counts, Counts, Counts] = [{}, {}, {}];
  let [operations, allFired, everFired, unknown, lateReplies] = [0, 0, 0, 0, 0];

  function addAttempts({ attempts }: OperationView, of: ToolStats): void {
    for (const { licence, replayed, wireRequests = 0 } of attempts) {
      if (licence !== "first") count(firedAgain, licence);
      if (replayed) suppressed.recognisedByService += 1;
      if (wireRequests > 1) {
        hiddenRetries.attempts += 1;
        hiddenRetries.extraRequests += wireRequests - 1;
        of.extraRequests += wireRequests - 1;
      }
    }
  }

  return {
    add(operation) {
      const { status, tool, aliases, evidence, via, fired } = operation;
      const of = byTool.get(tool) ?? { operations: 0, fired: 0, unknown: 0, extraRequests: 0 };
      byTool.set(tool, of);
      operations += 1;
      of.operations += 1;
      allFired += fired;
      of.fired += fired;
      if (fired > 0) everFired += 1;
      if (status === "unknown") {
        unknown += 1;
        of.unknown += 1;
        count(unknownReasons, operation.reason ?? "?");
      }
      count(byStatus, status);
      suppressed.callsMetAgain += Math.max(0, aliases.length - 1);
      if (via === "read") suppressed.foundByReading += 1;
      lateReplies += evidence.length;
      addAttempts(operation, of);
      for (const { approve } of operation.answers) answers[approve ? "yes" : "no"] += 1;
    },
    stats: () => ({
      ...{ operations, byStatus, unknownReasons, fired: allFired, firedAgain },
      ...{ duplicatesSuppressed: suppressed, lateReplies, hiddenRetries, answers },
      unknownRate: everFired === 0 ? 0 : unknown / everFired,
      byTool: Object.fromEntries(byTool),
      cannotTell: CANNOT_TELL,
    }),
  };
}
