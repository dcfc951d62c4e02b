/**
 * Where a process is killed: eleven fault points, and what each may leave behind.
 *
 * @module
 */

/** What the tool's service offers: keys, reads, preconditions, or nothing. */
export const CLASSES = ["keyed", "readable", "conditional", "neither"] as const;
export type CrashClass = (typeof CLASSES)[number];

/** How far one operation has come when its process dies. */
export type Spot =
  | "before-claim"
  | "claim-issued"
  | "claimed"
  | "sending"
  | "sent"
  | "mid-reply"
  | "replied"
  | "before-settle"
  | "settle-issued"
  | "settled"
  /** Of a process that recovers: the claim of a lapsed operation. */
  | "before-takeover"
  | "taken-over";

export interface Point {
  readonly says: string;
  /** Where its operations stop, one after the other; two of a kind in one process go together. */
  readonly spots: readonly Spot[];
}

export type PointId = `F${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11}`;

export const POINTS: Readonly<Record<PointId, Point>> = {
  F1: { says: "before the claim is written", spots: ["before-claim"] },
  F2: { says: "after the claim is issued, before it is acknowledged", spots: ["claim-issued"] },
  F3: { says: "after the claim is durable, before the send", spots: ["claimed"] },
  F4: { says: "during the send, with half of the request out", spots: ["sending"] },
  F5: { says: "after the send, before the reply", spots: ["sent"] },
  F6: { says: "in the middle of the reply", spots: ["mid-reply"] },
  F7: { says: "after the reply, before the settle", spots: ["replied", "before-settle"] },
  F8: { says: "after the settle is issued, before it is acknowledged", spots: ["settle-issued"] },
  F9: { says: "after the settle, before the caller is told", spots: ["settled"] },
  F10: {
    says: "inside recovery, before and after each of its writes",
    spots: ["before-takeover", "taken-over", "before-settle", "settled"],
  },
  F11: {
    says: "between a yes and the claim, and between the claim that spent it and the send",
    spots: ["before-claim", "claimed"],
  },
};

export const POINT_IDS = Object.keys(POINTS) as readonly PointId[];

/** In what state the ledger may be found when the process is gone; `absent` is no record at all. */
export function mayBeLeft(spot: Spot, point: PointId, attempt: number): readonly string[] {
  switch (spot) {
    case "before-claim":
      if (point === "F11") return ["held"];
      return attempt > 1 ? ["claimed"] : ["absent"];
    case "claim-issued":
      return attempt > 1 ? ["claimed"] : ["absent", "claimed"];
    case "settle-issued":
      return ["claimed", "committed"];
    case "settled":
      // A recovery may have settled that nobody can tell.
      return point === "F10" ? ["committed", "unknown"] : ["committed"];
    default:
      return ["claimed"];
  }
}

/**
 * How an operation may end. Whoever can be asked again, by key, by precondition or by a read, ends
 * committed; a service that offers nothing leaves a doubt wherever the request may have left.
 */
export function mayEnd(toolClass: CrashClass, spot: Spot, point: PointId): readonly string[] {
  if (toolClass !== "neither") return ["committed"];
  if (point === "F10") return ["unknown"];
  switch (spot) {
    case "before-claim":
    case "settled":
      return ["committed"];
    case "claim-issued":
    case "settle-issued":
      return ["committed", "unknown"];
    default:
      return ["unknown"];
  }
}
