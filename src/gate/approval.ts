/**
 * The gate of destructive tools: a durable question to a person, and a yes that is good for exactly
 * what the person was shown.
 *
 * @module
 */

import { lostBefore } from "../engine/claim.ts";
import type { Engine } from "../engine/engine.ts";
import type { Flight } from "../engine/flight.ts";
import type { Admission, Gate } from "../engine/gate.ts";
import { about, type Operation } from "../engine/operation.ts";
import { reach } from "../engine/reach.ts";
import type { Plan } from "../engine/tool.ts";
import { within } from "../engine/within.ts";
import { InvalidInputError } from "../errors.ts";
import { canonicalize, type Json } from "../key/canonical.ts";
import { digestText } from "../key/digest.ts";
import { checkPerson } from "../key/name.ts";
import type { Ask, OperationRecord } from "../ledger/record.ts";

/** What a person is asked. Nothing in it comes from a model's say-so. */
export interface ApprovalRequest {
  readonly tenant: string;
  readonly id: string;
  readonly tool: string;
  readonly scope: string;
  readonly args: Json;
  readonly alsoDoes: readonly string[];
  readonly plan: Plan | undefined;
  /** Binds the answer to all of the above. */
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

export function approvalGate({ confirm, expiryMs, policyVersion }: GateOptions): Gate {
  async function admit(
    flight: Flight,
    engine: Engine,
    ask: Confirm | undefined,
  ): Promise<Admission> {
    const { operation } = flight;
    if (operation.tool.kind !== "destructive") return { tag: "pass" };
    const stored = await reach(engine, "gate", engine.ledger.read(operation.ref));
    const record = stored?.record;
    if (record && !needsLeave(record, operation, engine)) return { tag: "pass", needsYes: true };

    const planned = await within(
      engine.clock,
      Math.max(flight.remainingMs(), 0),
      flight.untilStopped(() => show(operation)),
    );
    if (planned.tag === "failed") throw planned.error;
    if (planned.tag === "late") throw new InvalidInputError("plan", "did not answer in time");
    if (planned.value.tag === "stopped") return { tag: "held", reason: "approval" };
    const shown = planned.value.value;
    const digestFor = (asked: Pick<Ask, "expiresAt" | "nonce">) =>
      digestOf(operation, shown.text, record?.generation ?? 0, policyVersion, asked);
    const earlier = record?.state.tag === "held" ? record.state.ask : undefined;
    const now = engine.ledger.clock.latest();
    const sameQuestion =
      earlier && now < earlier.expiresAt && earlier.digest === digestFor(earlier);
    if (sameQuestion && isApproved(earlier))
      return { tag: "pass", needsYes: true, spend: earlier.digest };

    const asked = sameQuestion ? earlier : { expiresAt: now + expiryMs, nonce: engine.newId() };
    const digest = digestFor(asked);
    if (!sameQuestion) {
      const question: Ask = {
        why: "approval",
        digest,
        nonce: asked.nonce,
        expiresAt: asked.expiresAt,
        askedAt: now,
        shown: engine.codec.encodeText(shown.text, operation.ref),
        answers: [],
      };
      const at = engine.ledger.clock.earliest();
      const suspect = lostBefore(operation, engine);
      const { draft } = operation;
      const move = { move: "hold", draft, ask: question, suspect, at } as const;
      const held = await reach(engine, "hold", engine.ledger.move(operation.ref, move, stored));
      // Somebody was faster; the claim will say what is known.
      if (held.tag !== "moved") return { tag: "pass", needsYes: true };
      engine.events.emit("held", { ...about(operation), why: "approval" });
    }
    if (!ask) return { tag: "held", reason: "approval" };
    const { plan, args } = shown;
    const { alsoDoes, name: tool } = operation.tool;
    const request = {
      tenant: operation.ref.tenant,
      id: operation.ref.id,
      tool,
      scope: operation.scope,
      args,
      alsoDoes,
      plan,
      digest,
    };
    const waited = await flight.outsideDeadline(async () => ask(request));
    if (waited.tag === "stopped") return { tag: "held", reason: "approval" };
    const answer = checkAnswer(waited.value);
    const at = engine.ledger.clock.latest();
    const given = {
      move: "answer",
      digest,
      approve: answer.approve === true,
      by: answer.by,
      note: answer.note,
      at,
    } as const;
    await reach(engine, "answer", engine.ledger.move(operation.ref, given));
    // Two may have answered at once: what the ledger counted decides, and the plan is made again.
    return admit(flight, engine, undefined);
  }
  return { admit: (flight, engine) => admit(flight, engine, confirm) };
}

/** A yes has a name under it. */
function checkAnswer(answer: ApprovalAnswer): ApprovalAnswer {
  if (typeof answer !== "object" || answer === null) {
    throw new InvalidInputError("confirm", "must return { approve, by }");
  }
  checkPerson(answer.by);
  return answer;
}

/** A settled operation is replayed and an open one is read: neither fires on this call's leave. */
function needsLeave(
  { state, stateAt }: OperationRecord,
  { retry }: Operation,
  { ledger, timing }: Engine,
): boolean {
  if (state.tag === "held" || state.tag === "queued") return true;
  if (state.tag !== "not_applied") return false;
  if (retry !== undefined || state.reason === "rejected") return retry !== undefined;
  return state.reason === "resolved" || ledger.clock.latest() >= stateAt + timing.cooldownMs;
}

const isApproved = ({ answers }: Ask): boolean =>
  answers.some(({ counted, approve }) => counted && approve);

async function show(
  operation: Operation,
): Promise<{ text: string; args: Json; plan: Plan | undefined }> {
  const { tool, args } = operation;
  const plan = tool.plan && (await tool.plan(args));
  const { text } = canonicalize(
    { args, plan: plan ?? null, alsoDoes: tool.alsoDoes, tool: tool.name },
    "plan",
  );
  return { text, args, plan };
}

function digestOf(
  { ref, draft }: Operation,
  shown: string,
  generation: number,
  policyVersion: string,
  { expiresAt, nonce }: Pick<Ask, "expiresAt" | "nonce">,
): string {
  return digestText(
    "approval",
    ref.tenant,
    ref.id,
    String(generation),
    draft.argsHash,
    shown,
    policyVersion,
    String(expiresAt),
    nonce,
  );
}
