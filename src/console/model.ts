/**
 * What the console's page is told, as JSON. Every text in it has its hidden characters made visible and is bounded; no
 * result of a tool is in it.
 *
 * @module
 */

import type { Moment } from "../describe/timeline.ts";
import type { DiffLine } from "../gate/diff.ts";
import type { StateTag } from "../ledger/record.ts";
import type { Licence, Verdict } from "../reasons.ts";

export type { StateTag } from "../ledger/record.ts";

export interface Problem {
  readonly error: string;
  readonly hint?: string | undefined;
}

export interface Session {
  readonly person: string;
  readonly mayDecide: boolean;
  readonly tenant: string;
  /** Which store, and where, without secrets. */
  readonly ledger: string;
  readonly version: string;
  /** The ledger's clock. */
  readonly now: number;
  /** Set if the store has lost data, until a person trusts it again. */
  readonly suspect?: string | undefined;
}

/** One operation in a list. */
export interface OperationRow {
  readonly id: string;
  readonly key: string;
  readonly tool: string;
  readonly scope: string;
  readonly status: StateTag;
  readonly reason?: string | undefined;
  readonly resource?: string | undefined;
  readonly fired: number;
  readonly createdAt: number;
  readonly at: number;
}

export interface OperationPage {
  readonly items: readonly OperationRow[];
  /** Where to go on; absent at the end. */
  readonly cursor?: string | undefined;
  /** How many operations were compared for this page. */
  readonly looked: number;
  /** When the last of them was made. */
  readonly backTo?: number | undefined;
  /** Ids of operations whose records are damaged. */
  readonly unreadable: readonly string[];
}

/** Another operation of the same scope whose outcome is unknown. */
export interface AlsoUnknown {
  readonly id: string;
  readonly tool: string;
  /** How it stands, in a sentence. */
  readonly sentence: string;
  readonly intent?: string | undefined;
}

/** A question to a person. */
export interface Question {
  readonly operation: OperationRow;
  /** Follows "needs approval because". */
  readonly why: string;
  /** Names the question that was shown: an answer to another one is refused. */
  readonly digest: string;
  readonly askedAt: number;
  readonly expiresAt: number;
  /** Approved, and not used yet. */
  readonly answered: boolean;
  /** Whether all of it can be shown here; one that cannot be shown cannot be approved. */
  readonly canBeShown: boolean;
  readonly args: CutText;
  readonly alsoDoes: readonly string[];
  /** What another party says the tool is. */
  readonly definition?: CutText | undefined;
  /** The earlier call that it differs from. */
  readonly drift?: CutText | undefined;
  /** What the tool would change; absent if it has no plan. */
  readonly plan?: { readonly lines: readonly DiffLine[]; readonly leftOut: number } | undefined;
  readonly alsoUnknown: readonly AlsoUnknown[];
}

export interface CutText {
  readonly text: string;
  /** How many characters are left out. */
  readonly leftOut: number;
}

/** An operation whose outcome is unknown, or whose process may have died. */
export interface UnknownItem {
  readonly operation: OperationRow;
  /** How it stands, in a sentence. */
  readonly sentence: string;
  readonly intent?: string | undefined;
  /** How its last attempt ended, in words. */
  readonly last?: string | undefined;
  readonly evidence: number;
  /** Given back with an answer: it does not count for what came after. */
  readonly asOf: number;
  /** An attempt may send until then. */
  readonly mayStillSendUntil?: number | undefined;
  /** Whether the tool is known here and has a reader. */
  readonly canLook: boolean;
  readonly alsoUnknown: readonly AlsoUnknown[];
}

export interface Inbox {
  readonly questions: readonly Question[];
  readonly unknowns: readonly UnknownItem[];
  /** There are more than are shown. */
  readonly more: boolean;
  readonly consequences: Readonly<Record<AnswerName, string>>;
}

export type AnswerName = "approve" | "deny" | "committed" | "not_applied" | "look";

/** One attempt, for the picture. */
export interface AttemptBar {
  readonly n: number;
  readonly claim: number;
  readonly from: number;
  /** When it ended, or when it has ended at the latest. */
  readonly to?: number | undefined;
  /** Its end was not seen; `to` is the latest time. */
  readonly endUnseen: boolean;
  readonly licence: Licence;
  readonly licenceWords: string;
  readonly verdict?: Verdict | undefined;
  readonly status?: number | undefined;
  readonly requests?: number | undefined;
}

export interface OperationDetail {
  readonly operation: OperationRow;
  /** How it stands, in a sentence. */
  readonly sentence: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly timeline: readonly Moment[];
  readonly attempts: readonly AttemptBar[];
  readonly question?: Question | undefined;
  readonly unknown?: UnknownItem | undefined;
  readonly alsoUnknown: readonly AlsoUnknown[];
  readonly consequences: Inbox["consequences"];
}

export interface Health {
  readonly from: number;
  readonly to: number;
  /** How many operations were read, and whether these are all that were made since `from`. */
  readonly looked: number;
  readonly complete: boolean;
  readonly now: number;
  /** Counts of operations by when they were made and how they stand. */
  readonly outcomes: {
    readonly at: readonly number[];
    readonly series: Readonly<Record<StateTag, readonly number[]>>;
  };
  /** How many operations were fired once, twice, … */
  readonly firedTimes: readonly { readonly times: string; readonly operations: number }[];
  readonly unknownRate: number;
  readonly suppressed: {
    readonly callsMetAgain: number;
    readonly foundByReading: number;
    readonly recognisedByService: number;
  };
  readonly lateReplies: number;
  readonly hiddenRetries: {
    readonly byTool: readonly { readonly tool: string; readonly requests: number }[];
    /** As this process saw them since the console was made. */
    readonly byClient: readonly { readonly origin: string; readonly requests: number }[];
  };
  readonly open: {
    readonly byStatus: Readonly<Partial<Record<StateTag, number>>>;
    readonly complete: boolean;
    readonly oldestUnknown?: OperationRow | undefined;
    readonly lanes: readonly LaneRow[];
  };
  readonly cannotTell: readonly string[];
}

/** A resource to which writes go one at a time. */
export interface LaneRow {
  readonly resource: string;
  readonly holder?: OperationRow | undefined;
  /** How many calls wait for it. */
  readonly waiting: number;
}
