/**
 * A recorded request: the step of its scope that it is, and its answer, given back. The same request has the same name in
 * every run, in whatever order requests are made.
 *
 * Equal requests are numbered by their answers, not by their calls: a call that fails takes no number, so it shifts no
 * other.
 *
 * @module
 */

import { show } from "../../../engine/define/check.ts";
import type { Engine } from "../../../engine/engine.ts";
import { currentFrame } from "../../../engine/operation/nesting.ts";
import type { Reply } from "../../../engine/outcome/reply.ts";
import { reviveResponse } from "../../../engine/outcome/response.ts";
import {
  recallSample,
  type SampleStep,
  sampleFacts,
} from "../../../engine/reads-and-samples/sample-record.ts";
import { InvalidInputError, MissingScopeError, ResultLostError } from "../../../errors.ts";
import { digestText } from "../../../key/digest.ts";
import { currentScope, resolveScope, type Scope, showScope } from "../../../key/scope.ts";
import { tryCall } from "../../../lang/peek.ts";
import type { KeptResponse } from "../../../ledger/codec/codec.ts";
import { followAnswer, formOf } from "./answer.ts";
import { ownBody } from "./own-body.ts";
import type { Owning, StepRequest } from "./own-options.ts";

const LONGEST_STEP = 256;

/** The numbers of equal requests whose answers one run has, by their hash. */
export type AnswersHad = Map<string, Set<number>>;

const entries = new WeakMap<Scope, AnswersHad>();

/** A request whose answer is recorded. */
export interface RecordedRequest {
  /** What is sent: the body as it was when the step was named after it. */
  readonly body: unknown;
  /** The step of the next answer that this run has not had. No other call of the run gets it until it is freed. */
  take(): TakenStep;
}

export interface TakenStep extends SampleStep {
  /** There was no answer: the next call like it takes this step. */
  readonly free: () => void;
}

/** `undefined` if JSON cannot carry what is asked. */
export function recordedRequest(
  client: string,
  request: StepRequest,
  { options, answersHad }: { readonly options: Owning; readonly answersHad: AnswersHad },
  engine: Engine,
): RecordedRequest | undefined {
  const body = ownBody(request.body);
  const text = promptText(body);
  if (text === undefined) return undefined;
  const scope = resolveScope(options.scope);
  if (!scope) throw new MissingScopeError(`sample:${client}`);
  const { method, path } = request;
  const hash = digestText("sample", method, path, text);
  const asked = { client, scope, hash, parent: currentFrame()?.operationId };
  if (options.step) {
    const step = checkStep(options.step(request));
    let told = false;
    const onDrift = () => {
      if (told) return;
      told = true;
      const where = { client, step, scope: showScope(scope.id) };
      engine.events.emit("warning", () => ({ code: "prompt_drift", ...where }));
    };
    return { body, take: () => ({ ...asked, step, onDrift, free() {} }) };
  }
  const had = numbersOf(scope === currentScope() ? hadIn(scope) : answersHad, `${client} ${hash}`);
  return {
    body,
    take() {
      let number = 1;
      while (had.has(number)) number += 1;
      had.add(number);
      const step = `${method} ${path} ${hash} #${number}`;
      return { ...asked, step, onDrift() {}, free: () => had.delete(number) };
    },
  };
}

/** The next recorded answer that this run has not had. */
export async function recallAnswer(
  request: RecordedRequest,
  engine: Engine,
): Promise<{ readonly step: TakenStep; readonly kept: KeptResponse } | undefined> {
  const step = request.take();
  let kept: KeptResponse | undefined;
  try {
    kept = await recallSample(step, engine);
  } finally {
    if (!kept) step.free();
  }
  return kept && { step, kept };
}

function hadIn(scope: Scope): AnswersHad {
  const had = entries.get(scope) ?? new Map();
  entries.set(scope, had);
  return had;
}

function numbersOf(had: AnswersHad, request: string): Set<number> {
  const numbers = had.get(request) ?? new Set();
  had.set(request, numbers);
  return numbers;
}

function checkStep(step: unknown): string {
  if (typeof step === "string" && step !== "" && step.length <= LONGEST_STEP) return step;
  const rule = `must return 1 to ${LONGEST_STEP} characters, got ${show(step)}.`;
  throw new InvalidInputError("step", rule);
}

/** How the JSON of a `Reply` begins. */
const REPLY = '{"ok":';

/**
 * The text by which a recorded request is known again; `undefined` if JSON cannot carry it.
 *
 * A model is told of a replayed tool call in other words than of the first ("Already done at …"), and it is the same result. So
 * what a replay changes in such an answer is no part of the prompt: a rerun of a loop with guarded tools asks nothing anew.
 */
function promptText(body: unknown): string | undefined {
  try {
    return JSON.stringify(body, (_, value) =>
      typeof value === "string" && value.startsWith(REPLY) ? resultIn(value) : value,
    );
  } catch {
    return undefined;
  }
}

/** What a tool's answer says of the operation; any other text as it is. */
function resultIn(text: string): unknown {
  const reply = tryCall(JSON, "parse", text) as Partial<Reply> | undefined;
  if (typeof reply?.operation !== "string" || typeof reply.replayed !== "boolean") return text;
  const { effect: _effect, replayed: _replayed, message: _message, ...result } = reply;
  return result;
}

const NO_MORE =
  "The reader of this stream left it here, and the rest was not received. Ask again for a new answer";

/**
 * A recorded answer as the SDK would have received it. Of a stream whose reader left, what was read is given back;
 * who reads on gets an error, because a part of an answer must not pass for the whole.
 */
export function reviveAnswer(
  { step, kept }: { readonly step: TakenStep; readonly kept: KeptResponse },
  engine: Engine,
): Response {
  const response = reviveResponse(kept);
  const { status, headers } = response;
  if (formOf(response) !== "events") return response;
  const bytes = Buffer.from(kept.body, kept.encoding);
  const answer = followAnswer("events");
  answer.see(bytes);
  if (!answer.isCut()) return response;
  let given = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (given) controller.error(new ResultLostError(sampleFacts(step, engine), NO_MORE));
        else controller.enqueue(bytes);
        given = true;
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, { status, headers });
}
