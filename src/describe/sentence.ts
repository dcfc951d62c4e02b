/**
 * How an operation stands, in a sentence for a person, and what each answer of a person would cause.
 *
 * @module
 */

import type { AttemptView, OperationView } from "../engine/admin/operations.ts";
import { attemptTold, whyNotApplied, whyUnknown } from "../engine/outcome/words.ts";
import { visible } from "../key/escape-hidden.ts";
import type { NotAppliedReason, UnknownReason } from "../reasons.ts";

/** How it stands. Hidden characters are made visible. */
export function sentenceFor(operation: OperationView): string {
  const { status, attempts, by } = operation;
  switch (status) {
    case "unknown": {
      const reason = operation.reason as UnknownReason;
      const told = attemptTold({ attempts: attempts.map(asNote) }, reason);
      return visible(
        whyUnknown({ attempts: attempts.map(asNote) }, reason, failureOf(told, attempts)),
      );
    }
    case "not_applied": {
      const { rejection } = operation;
      const reason = operation.reason as NotAppliedReason;
      const last = attempts.at(-1);
      const told = { reason, rejection, answered: last?.status };
      return visible(whyNotApplied(told, last && asNote(last), last?.failure));
    }
    case "committed":
      return by === undefined ? "It happened." : `It happened: ${visible(by)} said so.`;
    case "denied":
      return `Nothing was sent: ${visible(by ?? "a person")} denied it.`;
    case "held":
      return "Nothing was sent: it waits for a person.";
    case "claimed":
      return "A process is making the call, or has died while it did.";
  }
}

/** What an attempt failed with is beside it here, and inside it in the ledger. */
const asNote = ({ failure: _, ...note }: AttemptView) => note;

const failureOf = (told: { readonly n: number } | undefined, attempts: readonly AttemptView[]) =>
  attempts.find(({ n }) => n === told?.n)?.failure;

/** What each answer causes, told before it is given. */
export const CONSEQUENCES = {
  approve:
    "Nothing is sent by the approval itself. The waiting program makes the call again, and it is fired once if its plan is still the one shown here. The approval is used up by that.",
  deny: "It is never sent, and its caller is told that a person said no. A denial is final; it also takes back an approval that was not used yet.",
  committed:
    "It is recorded as done, under your name. It is never sent again, and a repeated call is answered from the record.",
  not_applied:
    "It is recorded as not done, under your name. Nothing is sent now, but the same call may be sent again, with the same key. If it did happen after all, that makes it happen twice unless the service recognises the key.",
  look: "The tool's own reader asks the service what became of it. Nothing is sent again.",
} as const;
