/**
 * The gate of destructive tools, and of calls that drift: a durable question to a person, and a yes that is good for
 * exactly what the person agreed to.
 *
 * What is asked, and what a yes is bound to, is in `question.ts`.
 *
 * @module
 */

import { wouldFire } from "../engine/claim-terms.ts";
import type { Admission, Engine } from "../engine/engine.ts";
import type { Execution } from "../engine/operation/operation.ts";
import { about } from "../engine/operation/operation.ts";
import { askStore } from "../engine/store-call.ts";
import { InvalidInputError } from "../errors.ts";
import { asksOf, hasExpired, isApproved } from "../ledger/moves/approval-question.ts";
import { type ApprovalAnswer, decisionOn, fileAnswer, tellDecision } from "./decision.ts";
import { type Drift, replacedBy, replacedIn } from "./drift.ts";
import {
  type ApprovalRequest,
  type Bound,
  digestOf,
  putQuestion,
  requestFor,
  showInTime,
  withDrift,
} from "./question.ts";

export type Confirm = (request: ApprovalRequest) => Promise<ApprovalAnswer> | ApprovalAnswer;

export interface GateOptions {
  readonly confirm: Confirm | undefined;
  readonly expiryMs: number;
  /** Another version asks again. */
  readonly policyVersion: string;
}

/** Lets pass what needs no approval; what is destructive or drifts needs a person's yes. */
export interface ApprovalGate {
  admit(
    execution: Execution,
    engine: Engine,
    drift?: Drift | "asked" | undefined,
  ): Promise<Admission>;
}

export function approvalGate({ confirm, expiryMs, policyVersion }: GateOptions): ApprovalGate {
  async function admit(
    execution: Execution,
    engine: Engine,
    found: Drift | "asked" | undefined,
    ask: Confirm | undefined,
  ): Promise<Admission> {
    const { operation } = execution;
    const isDestructive = operation.tool.kind === "destructive";
    if (!isDestructive && !found) return { tag: "pass" };
    const why = isDestructive ? "approval" : "drift";
    const drift = found === "asked" ? undefined : found;
    const stored = await askStore(engine, "gate", engine.ledger.read(operation.ref));
    const record = stored?.record;
    if (record && !wouldFire(record, operation, engine)) return { tag: "pass", needsYes: true };
    if (record?.state.tag === "held") tellDecision(engine, record, decisionOn(record, engine));

    const inTime = await showInTime(execution, engine);
    if (inTime.tag === "failed") return inTime;
    if (inTime.tag === "stopped") return { tag: "held", reason: why };
    const { shown } = inTime;
    const insteadOf = drift && replacedBy(drift);
    const digestFor = (asked: Bound) =>
      digestOf(operation, shown.text, record?.generation ?? 0, policyVersion, asked);
    const now = engine.ledger.clock.latest();
    const questions = record?.state.tag === "held" ? asksOf(record.state) : [];
    const same = questions.find(
      (earlier) =>
        !hasExpired(earlier, now, engine.clock.now()) &&
        (insteadOf === undefined || earlier.insteadOf === insteadOf) &&
        earlier.digest === digestFor(earlier),
    );
    if (same && isApproved(same)) {
      return { tag: "pass", needsYes: true, spend: same.digest, insteadOf: replacedIn(same) };
    }

    const asked = same ?? { expiresAt: now + expiryMs, nonce: engine.newId(), insteadOf };
    const digest = digestFor(asked);
    if (!same) {
      const text = withDrift(shown.text, drift);
      // Another process was faster; the claim will say what is known.
      if (
        !(await putQuestion(
          { ...asked, why, digest, text, askedAt: now },
          operation,
          stored,
          engine,
        ))
      ) {
        return { tag: "pass", needsYes: true };
      }
      engine.events.emit("approval", () => ({ ...about(operation), status: "asked", why }));
    }
    if (!ask) return { tag: "held", reason: why };
    const request = requestFor(operation, shown, why, drift, digest);
    const leftMs = asked.expiresAt - now;
    if (!(await isAnswered(execution, () => ask(request), digest, leftMs, engine))) {
      return { tag: "held", reason: why };
    }
    // Two may have answered at once: what the ledger counted decides, and the plan is made again.
    return admit(execution, engine, found, undefined);
  }
  return { admit: (execution, engine, drift) => admit(execution, engine, drift, confirm) };
}

/**
 * Asks the person, and files their answer. False if there is none by the time that the callers have left or the question
 * has expired. An answer that comes later is filed all the same, and the ledger decides what it is good for: a yes
 * counts until the question expires, and a no also after that, unless it was asked anew.
 */
async function isAnswered(
  execution: Execution,
  ask: () => Promise<ApprovalAnswer> | ApprovalAnswer,
  digest: string,
  leftMs: number,
  engine: Engine,
): Promise<boolean> {
  const { operation } = execution;
  const file = async (answer: ApprovalAnswer) =>
    fileAnswer(checkAnswer(answer), digest, operation.ref, engine);
  let asking: Promise<ApprovalAnswer> | undefined;
  let cancel = () => {};
  const waited = await execution
    .outsideDeadline(() => {
      asking = (async () => ask())();
      const expired = new Promise<{ tag: "expired" }>((resolve) => {
        cancel = engine.clock.after(leftMs, () => resolve({ tag: "expired" }), true);
      });
      const answered = asking.then((answer) => ({ tag: "answered", answer }) as const);
      return Promise.race([answered, expired]);
    })
    .finally(() => cancel());
  if (waited.tag === "done" && waited.value.tag === "answered") {
    await file(waited.value.answer);
    return true;
  }
  asking?.then(file).catch(() => {});
  return false;
}

function checkAnswer(answer: ApprovalAnswer): ApprovalAnswer {
  if (typeof answer !== "object" || answer === null || typeof answer.approve !== "boolean") {
    throw new InvalidInputError("confirm", "must return { approve: true or false, by }.");
  }
  return answer;
}
