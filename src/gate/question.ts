/**
 * The question that a person is asked: made from the operation and its plan, with a digest that binds the answer to all that
 * is shown, and written down before anyone is asked.
 *
 * It is worded in `cli/ledger/question.ts`, `console/api/questions.ts` and `gateway/people/question.ts`; `confirm` gets an
 * `ApprovalRequest`.
 *
 * @module
 */

import type { Plan } from "../engine/define/definition.ts";
import type { Engine } from "../engine/engine.ts";
import type { Execution } from "../engine/operation/operation.ts";
import { about, type Operation } from "../engine/operation/operation.ts";
import { lostBefore } from "../engine/steps/parts/claim-needs.ts";
import { askStore } from "../engine/store-call.ts";
import { canonicalize } from "../key/canonical.ts";
import { digestText } from "../key/digest.ts";
import type { Json } from "../key/json.ts";
import { withTimeLimit } from "../lang/clock.ts";
import type { Ask, Stored } from "../ledger/record.ts";
import { diffOf, diffText } from "./diff.ts";
import type { Drift } from "./drift.ts";
import { makePlan, whyNoPlan } from "./plan.ts";

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

/** What a person is shown; `text` is all of it in canonical form, to which the answer is bound. */
interface Shown {
  readonly text: string;
  readonly args: Json;
  readonly plan: Plan | undefined;
  readonly definition: Json | undefined;
}

/** As it is now: it is made again once a person has said yes. */
async function show(operation: Operation): Promise<Shown> {
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

type ShownInTime =
  | { readonly tag: "shown"; readonly shown: Shown }
  | { readonly tag: "stopped" }
  | { readonly tag: "failed"; readonly error: unknown };

/** What is to be shown, made within what is left of the call's time. */
export async function showInTime(execution: Execution, engine: Engine): Promise<ShownInTime> {
  const { operation } = execution;
  const inTime = await withTimeLimit(
    engine.clock,
    Math.max(execution.remainingMs(), 0),
    execution.untilStopped(() => show(operation)),
  );
  if (inTime.tag === "done") {
    const { value } = inTime;
    return value.tag === "done" ? { tag: "shown", shown: value.value } : value;
  }
  const { tag: why } = inTime;
  engine.events.emit("warning", () => ({
    ...about(operation),
    code: "reader_failed",
    which: "plan",
    why,
  }));
  return { tag: "failed", error: whyNoPlan(inTime, operation.tool) };
}

/** What of a question is part of its digest by itself. */
export type Bound = Pick<Ask, "expiresAt" | "nonce" | "insteadOf">;

/** What a yes is bound to: one hash of the operation and all that the person was shown of it. */
export function digestOf(
  { ref, draft }: Operation,
  shown: string,
  generation: number,
  policyVersion: string,
  { expiresAt, nonce, insteadOf }: Bound,
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
    insteadOf,
  );
}

/** Writes the question down. False if another process has changed the record first: then there is no such question. */
export async function putQuestion(
  {
    text,
    ...bound
  }: Pick<Ask, "why" | "digest" | "nonce" | "insteadOf" | "expiresAt" | "askedAt"> & {
    readonly text: string;
  },
  operation: Operation,
  stored: Stored | undefined,
  engine: Engine,
): Promise<boolean> {
  const { clock } = engine.ledger;
  const skew = clock.skew();
  const shown = engine.codec.encodeText(text, operation.ref);
  const ask: Ask = { ...bound, skew, shown, answers: [] };
  const suspect = lostBefore(operation, engine);
  const move = {
    move: "hold",
    draft: operation.draft,
    ask,
    suspect,
    at: clock.earliest(),
    skew,
  } as const;
  const put = (hold: typeof move, known: Stored | undefined) =>
    askStore(engine, "hold", engine.ledger.move(operation.ref, hold, known));
  const held = await put(move, stored);
  // This question showed that the store lost data: it must not be answered as if nothing was sent.
  const lost = suspect ? undefined : lostBefore(operation, engine);
  if (held.tag !== "moved" || !lost) return held.tag === "moved";
  return (await put({ ...move, suspect: lost }, held.stored)).tag === "moved";
}

/** Shown, but no part of what is agreed to: what it drifts from may be settled before the yes is used. */
export const withDrift = (text: string, drift: Drift | undefined): string =>
  drift ? `${text.slice(0, -1)},"drift":${JSON.stringify(drift)}}` : text;

export const requestFor = (
  { ref, tool, scope }: Operation,
  { plan, args, definition }: Shown,
  why: Ask["why"],
  drift: Drift | undefined,
  digest: string,
): ApprovalRequest => ({
  ...ref,
  tool: tool.name,
  scope,
  args,
  alsoDoes: tool.alsoDoes,
  definition,
  plan,
  diff: diffText(diffOf(plan?.changes ?? [])),
  why,
  drift,
  digest,
});
