/** What the service does with a request that arrives, for each fate it may meet. */

import type { Fate } from "./fates.ts";
import { failure, odd, type Reply } from "./reply.ts";

export interface Course {
  /** When the write is made; never, if left out. */
  readonly commits?: "now" | "after-reply" | "after-end";
  /** What is said in place of the truth; `silence` = nothing at all. */
  readonly says?: Reply | "silence";
  /** A keyed service stores what it said, not what it did. */
  readonly storesSaid?: boolean;
  /** The answer comes after the attempt was given up. */
  readonly slow?: boolean;
  readonly poison?: "circular" | "bigint";
  readonly twice?: boolean;
}

export function courseOf(fate: Fate, op: string, lies: boolean): Course {
  switch (fate) {
    case "lost_reply":
      return { commits: "now", says: failure("reset") };
    case "slow":
      return { commits: "now", slow: true };
    case "slow-late":
      return { commits: "after-end" };
    case "late_commit":
      return { commits: "after-reply", says: failure("reset") };
    case "error-after":
      return { commits: "now", says: failure("error", 500), storesSaid: true };
    case "error-stored":
      return { says: failure("error", 500), storesSaid: true };
    case "error-before":
      return { says: failure("error", 500) };
    case "rejected":
      return { says: failure("rejected", 402), storesSaid: true };
    case "refused":
      return { says: failure("refused", 429) };
    case "busy":
      return { says: failure("busy", 503) };
    case "silent-before":
      return { says: "silence" };
    case "silent-after":
      return { commits: "now", says: "silence" };
    case "frozen-before":
      return { says: odd("frozen") };
    case "null-after":
      return { commits: "now", says: odd("null") };
    case "hostile-after":
      return { commits: "now", says: odd("hostile") };
    case "circular":
    case "bigint":
      return { commits: "now", poison: fate };
    case "twice":
      return { commits: "now", twice: true };
    case "lie":
    case "lie-slow": {
      const slow = fate === "lie-slow";
      if (!lies) return { commits: "now", slow };
      return { says: { said: "yes", result: { effect: "none", op } }, slow };
    }
    default:
      return { commits: "now" };
  }
}
