/**
 * What the records of a ledger add up to. Pure; `CANNOT_TELL` says what they do not hold.
 *
 * @module
 */

import type { OperationView } from "../../engine/admin/operations.ts";
import type { Licence, StateTag } from "../../ledger/record.ts";

export interface Stats {
  readonly operations: number;
  readonly byStatus: Readonly<Partial<Record<StateTag, number>>>;
  readonly byTool: Readonly<Record<string, ToolStats>>;
  /** Of those that were fired, the share that is unknown now; 0 if none was. */
  readonly unknownRate: number;
  readonly unknownReasons: Readonly<Record<string, number>>;
  /** How often a tool was fired in all. */
  readonly fired: number;
  /** Of the attempts still on record, those after the first, by what allowed them. */
  readonly firedAgain: Readonly<Partial<Record<Licence, number>>>;
  readonly duplicatesSuppressed: {
    /** Calls under another tool-call id that met an operation which was there: at least so many. */
    readonly callsMetAgain: number;
    /** Lost replies that a reading found, instead of a second send. */
    readonly foundByReading: number;
    /** Sends that the service recognised by our key. */
    readonly recognisedByService: number;
  };
  /** Replies that came after their attempt was given up. */
  readonly lateReplies: number;
  readonly hiddenRetries: {
    /** Attempts that sent more than one request. */
    readonly attempts: number;
    /** Their requests beyond the first. */
    readonly extraRequests: number;
  };
  readonly answers: { readonly yes: number; readonly no: number };
  readonly cannotTell: readonly string[];
}

export interface ToolStats {
  readonly operations: number;
  readonly fired: number;
  readonly unknown: number;
}

/** Said with every answer, so that nobody takes a floor for a count. */
export const CANNOT_TELL: readonly string[] = [
  'replays without a new tool-call id: an answer from the record is not written down; listen to the event "replay"',
  'requests that a guarded fetch stopped before they left; listen to the event "hidden_retry"',
  "whether several requests of one attempt were a retry or several steps of the tool",
  "attempts of operations that were fired more often than the record keeps, or that were pruned",
];

export interface StatsTally {
  add(operation: OperationView): void;
  stats(): Stats;
}

export function createStatsTally(): StatsTally {
  const byStatus: Record<string, number> = {};
  const byTool = new Map<string, { operations: number; fired: number; unknown: number }>();
  const unknownReasons: Record<string, number> = {};
  const firedAgain: Record<string, number> = {};
  let [operations, fired, everFired, unknown, lateReplies] = [0, 0, 0, 0, 0];
  const suppressed = { callsMetAgain: 0, foundByReading: 0, recognisedByService: 0 };
  const hidden = { attempts: 0, extraRequests: 0 };
  const answers = { yes: 0, no: 0 };
  const count = (counts: Record<string, number>, name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };

  return {
    add(operation) {
      const { status, tool, attempts, aliases, evidence, via } = operation;
      const isUnknown = status === "unknown";
      operations += 1;
      fired += operation.fired;
      if (operation.fired > 0) everFired += 1;
      if (isUnknown) unknown += 1;
      if (isUnknown) count(unknownReasons, operation.reason ?? "?");
      count(byStatus, status);
      const of = byTool.get(tool) ?? { operations: 0, fired: 0, unknown: 0 };
      of.operations += 1;
      of.fired += operation.fired;
      if (isUnknown) of.unknown += 1;
      byTool.set(tool, of);
      suppressed.callsMetAgain += Math.max(0, aliases.length - 1);
      if (via === "read") suppressed.foundByReading += 1;
      lateReplies += evidence.length;
      for (const { licence, replayed, wireRequests = 0 } of attempts) {
        if (licence !== "first") count(firedAgain, licence);
        if (replayed) suppressed.recognisedByService += 1;
        if (wireRequests > 1) {
          hidden.attempts += 1;
          hidden.extraRequests += wireRequests - 1;
        }
      }
      for (const { approve } of operation.answers) answers[approve ? "yes" : "no"] += 1;
    },
    stats: () => ({
      operations,
      byStatus,
      byTool: Object.fromEntries(byTool),
      unknownRate: everFired === 0 ? 0 : unknown / everFired,
      unknownReasons,
      fired,
      firedAgain,
      duplicatesSuppressed: { ...suppressed },
      lateReplies,
      hiddenRetries: { ...hidden },
      answers: { ...answers },
      cannotTell: CANNOT_TELL,
    }),
  };
}
