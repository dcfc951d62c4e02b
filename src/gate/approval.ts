/**
 * The gate of destructive tools, and of calls that drift: a durable question to a person, and a yes that is good for
 * exactly what the person agreed to.
 *
 * What is asked is made by `show`. It is worded in `cli/ledger/question.ts`, `console/api/questions.ts` and
 * `gateway/people/question.ts`; `confirm` gets an `ApprovalRequest`.
 *
 * @module
 */

import { lostBefore, wouldFire } from "../engine/claim-terms.ts";
import type { Plan } from "../engine/define/definition.ts";
import type { Admission, Engine } from "../engine/engine.ts";
import type { Execution } from "../engine/operation/operation.ts";
import { about, type Operation } from "../engine/operation/operation.ts";
import { askStore } from "../engine/store-call.ts";
import { InvalidInputError } from "../errors.ts";
import { canonicalize, type Json } from "../key/canonical.ts";
import { checkNote, checkPerson } from "../key/check-name.ts";
import { withTimeLimit } from "../lang/clock.ts";
import { asksOf, hasExpired, isApproved } from "../ledger/moves/approval-question.ts";
import type { Ask, Stored } from "../ledger/record.ts";
import { decisionOn, tellDecision } from "./decision.ts";
import { diffOf, diffText } from "./diff.ts";
import { type Drift, replacedBy, replacedIn } from "./drift.ts";
import { makePlan } from "./plan.ts";
import { type Bound, digestOf } from "./question-digest.ts";

/** What a person is asked. Nothing in it comes from a model's say-so. */
export interface ApprovalRequest {
  readonly tenant: string;
  readonly id: string;
  readonly tool: string;
  readonly scope: string;
  readonly args: Json;
  readonly alsoDoes: readonly string[];
  /** What others say the tool is, e.g. an MCP server; theirs to word. */
  readonly definition?: Json | undefined;
  readonly plan: Plan | undefined;
  /** The plan as text, hidden characters made visible. Bounded; says what it leaves out. */
  readonly diff: string;
  /** Why a person is asked: the tool is destructive, whether or not the call also drifts; or it only drifts from an earlier one. */
  readonly why: Ask["why"];
  /** What it drifts from. */
  readonly drift?: Drift | undefined;
  /** Binds the answer to the operation and all that is asked above. Of `drift` it binds the operation in whose place this one passes. */
  readonly digest: string;
}

/** A person's answer. `by` is their name. */
export interface ApprovalAnswer {
  readonly approve: boolean;
  readonly by: string;
  readonly note?: string | undefined;
}

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

    const planned = await withTimeLimit(
      engine.clock,
      Math.max(execution.remainingMs(), 0),
      execution.untilStopped(() => show(operation)),
    );
    if (planned.tag !== "done") {
      const late = new InvalidInputError("plan", "did not answer in time.");
      const error = planned.tag === "failed" ? planned.error : late;
      const why = planned.tag;
      engine.events.emit("warning", () => ({
        ...about(operation),
        code: "reader_failed",
        which: "plan",
        why,
      }));
      return { tag: "failed", error };
    }
    if (planned.value.tag === "stopped") return { tag: "held", reason: why };
    const shown = planned.value.value;
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
      const skew = engine.ledger.clock.skew();
      const question: Ask = {
        why,
        digest,
        nonce: asked.nonce,
        insteadOf,
        expiresAt: asked.expiresAt,
        askedAt: now,
        skew,
        shown: engine.codec.encodeText(withDrift(shown.text, drift), operation.ref),
        answers: [],
      };
      const at = engine.ledger.clock.earliest();
      const suspect = lostBefore(operation, engine);
      const { draft } = operation;
      const move = { move: "hold", draft, ask: question, suspect, at, skew } as const;
      const put = (hold: typeof move, known: Stored | undefined) =>
        askStore(engine, "hold", engine.ledger.move(operation.ref, hold, known));
      let held = await put(move, stored);
      // This question showed that the store lost data: it must not be answered as if nothing was sent.
      const lost = suspect ? undefined : lostBefore(operation, engine);
      if (held.tag === "moved" && lost) held = await put({ ...move, suspect: lost }, held.stored);
      // Another process was faster; the claim will say what is known.
      if (held.tag !== "moved") return { tag: "pass", needsYes: true };
      engine.events.emit("approval", () => ({ ...about(operation), status: "asked", why }));
    }
    if (!ask) return { tag: "held", reason: why };
    const { plan, args, definition } = shown;
    const { alsoDoes, name: tool } = operation.tool;
    const request = {
      tenant: operation.ref.tenant,
      id: operation.ref.id,
      tool,
      scope: operation.scope,
      args,
      alsoDoes,
      definition,
      plan,
      diff: diffText(diffOf(plan?.changes ?? [])),
      why,
      drift,
      digest,
    } as const;
    let asking: Promise<ApprovalAnswer> | undefined;
    const waited = await execution.outsideDeadline(() => {
      asking = (async () => ask(request))();
      return asking;
    });
    if (waited.tag === "stopped") {
      // The callers have left, not the person: what they say is their answer to the question, which stands.
      asking?.then((late) => give(late, digest, operation, engine)).catch(() => {});
      return { tag: "held", reason: why };
    }
    await give(waited.value, digest, operation, engine);
    // Two may have answered at once: what the ledger counted decides, and the plan is made again.
    return admit(execution, engine, found, undefined);
  }
  return { admit: (execution, engine, drift) => admit(execution, engine, drift, confirm) };
}

async function give(
  given: ApprovalAnswer,
  digest: string,
  { ref }: Operation,
  engine: Engine,
): Promise<void> {
  const { approve, by, note } = checkAnswer(given);
  const { clock } = engine.ledger;
  const at = clock.latest();
  const move = { move: "answer", digest, approve, by, note, at, skew: clock.skew() } as const;
  const moved = await askStore(engine, "answer", engine.ledger.move(ref, move));
  const answered = moved.tag === "moved" ? moved.stored?.record : undefined;
  if (answered) tellDecision(engine, answered, decisionOn(answered, engine));
}

/** A yes has a name under it. */
function checkAnswer(answer: ApprovalAnswer): ApprovalAnswer {
  if (typeof answer !== "object" || answer === null || typeof answer.approve !== "boolean") {
    throw new InvalidInputError("confirm", "must return { approve: true or false, by }.");
  }
  checkPerson(answer.by);
  checkNote(answer.note);
  return answer;
}

/** Shown, but no part of what is agreed to: what it drifts from may be settled before the yes is used. */
const withDrift = (text: string, drift: Drift | undefined): string =>
  drift ? `${text.slice(0, -1)},"drift":${JSON.stringify(drift)}}` : text;

/** As it is now: it is made again once a person has said yes. */
async function show(operation: Operation): Promise<{
  readonly text: string;
  readonly args: Json;
  readonly plan: Plan | undefined;
  readonly definition: Json | undefined;
}> {
  const { tool, args } = operation;
  const { name, alsoDoes } = tool;
  const plan = await makePlan(tool, args);
  const definition = await tool.definition?.();
  const { text } = canonicalize(
    { args, plan: plan ?? null, alsoDoes, definition, tool: name },
    "plan",
  );
  return { text, args, plan, definition };
}
