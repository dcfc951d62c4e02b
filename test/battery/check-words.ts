/** The part of the checker that holds the words for a model against what the service and the processes did. */

import type { Broken, Evidence } from "./checker.ts";
import type { Sent } from "./world/network.ts";
import { TIMES, traitsOf } from "./world/settings.ts";
import type { Call, CallSpec } from "./world/world.ts";

export function checkWords({ calls, sends }: Evidence, broken: Broken): void {
  const beside = new Set(calls.filter(({ spec }) => asksBeside(spec)).map(({ op }) => op));
  // What a queue sends for another is counted on whoever made the queue.
  const isShared = calls.some(({ spec }) => spec.manner === "queued");
  for (const call of calls) {
    if (call.words === undefined) continue;
    const { endedAt = 0, words, op } = call;
    // What a call with operations inside is told is about those, too.
    const own = sends.filter(
      (sent) => sent.at <= endedAt && (sent.op === op || sent.op.startsWith(`${op}/`)),
    );
    const said = { words, own, beside: isShared || beside.has(op) };
    const untrue = RULES.find(({ says, holds }) => says.test(words) && !holds(call, said));
    if (untrue) broken("I16 the words are true", `${op}: "${words}", but ${untrue.but}`);
  }
}

interface Rule {
  readonly says: RegExp;
  readonly but: string;
  holds(call: Call, said: Said): boolean;
}

interface Said {
  readonly words: string;
  /** The requests of the operation until then. */
  readonly own: readonly Sent[];
  /** Another write was made beside it, and may have been answered. */
  readonly beside: boolean;
}

const asksBeside = ({ manner }: CallSpec): boolean =>
  manner === "late-branch" || manner === "notifies";

const wasAnswered = ({ status, heard, heardAt = 0 }: Sent, by: number): boolean =>
  status !== undefined && heard && heardAt <= by;

const mayHaveArrived = ({ fate, late, heard, answer }: Sent): boolean =>
  fate !== "not-sent" &&
  fate !== "sync-throw" &&
  !late &&
  !(heard && (answer === "refused" || answer === "no"));

const STATUS = /\b(?:answered|no) \(?(\d{3})/;

const RULES: readonly Rule[] = [
  {
    says: /is being checked/,
    but: "nothing can check it",
    holds: ({ spec }) => traitsOf(spec.tool).readable === true,
  },
  {
    says: STATUS,
    but: "no such answer was given",
    holds(_, { words, own, beside }) {
      const status = Number(STATUS.exec(words)?.[1]);
      return beside || own.some((sent) => sent.status === status);
    },
  },
  {
    says: /reply was lost/,
    but: "every request was answered",
    // What another process has heard, or what came just now, is not in the ledger yet.
    holds: ({ by, endedAt = 0 }, { own, beside }) =>
      beside ||
      own.length === 0 ||
      own.some((sent) => sent.by !== by || !wasAnswered(sent, endedAt - TIMES.store)),
  },
  {
    // Said of the last attempt; of earlier ones only that they had no effect.
    says: /Nothing was sent|before anything was sent|was not sent/,
    but: "it was",
    // Of a call that only makes other calls, it is about what it sends itself: nothing.
    holds: ({ at, by, op, spec, outcome }, { own }) =>
      (outcome?.attempts ?? 0) > 1 ||
      !own.some(
        (sent) =>
          sent.op === op &&
          sent.resource === spec.what &&
          sent.by === by &&
          sent.at >= at &&
          mayHaveArrived(sent),
      ),
  },
];
