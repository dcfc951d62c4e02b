/**
 * One operation with its timeline, as words and as bars on a time axis.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { intentText } from "../../describe/decision-facts.ts";
import { CONSEQUENCES, sentenceFor } from "../../describe/sentence.ts";
import { LICENCES, timelineOf } from "../../describe/timeline.ts";
import type { AttemptView, OperationView } from "../../engine/admin/operations.ts";
import { visible } from "../../key/escape-hidden.ts";
import type { AttemptBar, OperationDetail } from "../model.ts";
import { questionOf, unknownOf } from "./questions.ts";
import { alsoUnknownTo, rowOf } from "./rows.ts";

export async function detailOf(hf: Holdfire, id: string): Promise<OperationDetail | undefined> {
  const operation = await hf.operations.get(id);
  if (!operation) return undefined;
  const approval = operation.status === "held" ? await hf.approvals.get(id) : undefined;
  const canBeUnknown = operation.status === "unknown" || operation.status === "claimed";
  return {
    operation: rowOf(operation),
    sentence: sentenceFor(operation),
    facts: factsOf(operation),
    timeline: timelineOf(operation),
    attempts: operation.attempts.map(barOf),
    question: approval && (await questionOf(hf, approval)),
    unknown: canBeUnknown ? await unknownOf(hf, operation) : undefined,
    alsoUnknown: await alsoUnknownTo(hf, operation),
    consequences: CONSEQUENCES,
  };
}

const MOST_ALIASES = 20;

function factsOf(operation: OperationView): OperationDetail["facts"] {
  const { aliases, parent, resource, effectId, effect, by, note, leaseUntil } = operation;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["intent", intentText(operation)],
    ["resource", resource && visible(resource)],
    ["effect", effect],
    ["effect id", effectId && visible(effectId)],
    ["inside operation", parent],
    [
      "tool calls",
      aliases
        .slice(0, MOST_ALIASES)
        .map((alias) => visible(alias, 80))
        .join(", "),
    ],
    ["decided by", by && visible(by)],
    ["reason given", note && visible(note, 2_000)],
    ["owned until", leaseUntil === undefined ? undefined : new Date(leaseUntil).toISOString()],
  ];
  return facts.flatMap(([name, value]) => (value ? [[name, value] as const] : []));
}

const barOf = (attempt: AttemptView): AttemptBar => ({
  n: attempt.n,
  claim: attempt.epoch,
  from: attempt.at,
  to: attempt.endedAt ?? attempt.endsBy,
  endUnseen: attempt.endedAt === undefined,
  licence: attempt.licence,
  licenceWords: LICENCES[attempt.licence],
  verdict: attempt.verdict,
  status: attempt.status,
  requests: attempt.wireRequests,
});
