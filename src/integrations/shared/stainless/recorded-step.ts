/**
 * Names the steps of a scope: the same request has the same name in every run, in whatever order requests are made.
 *
 * Equal requests are numbered by their answers, not by their calls: a call that fails takes no number, so it shifts no
 * other.
 *
 * @module
 */

import { show } from "../../../engine/define/check.ts";
import type { Engine } from "../../../engine/engine.ts";
import { currentFrame } from "../../../engine/operation/nesting.ts";
import { recallSample, type SampleStep } from "../../../engine/reads-and-samples/sample-record.ts";
import { InvalidInputError, MissingScopeError } from "../../../errors.ts";
import { digestText } from "../../../key/digest.ts";
import { currentScope, resolveScope, type Scope, showScope } from "../../../key/scope.ts";
import type { KeptResponse } from "../../../ledger/codec/codec.ts";
import type { Owning, StepRequest } from "./own-options.ts";

const LONGEST_STEP = 256;

/** The numbers of equal requests whose answers one run has, by their hash. */
export type AnswersHad = Map<string, Set<number>>;

const entries = new WeakMap<Scope, AnswersHad>();

/** A request whose answer is recorded. */
export interface RecordedRequest {
  /** The step of the next answer that this run has not had. No other call of the run gets it until it is freed. */
  take(): TakenStep;
}

export interface TakenStep extends SampleStep {
  /** There was no answer: the next call like it takes this step. */
  readonly free: () => void;
}

export function recordedRequest(
  client: string,
  request: StepRequest,
  text: string,
  { options, answersHad }: { readonly options: Owning; readonly answersHad: AnswersHad },
  engine: Engine,
): RecordedRequest {
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
    return { take: () => ({ ...asked, step, onDrift, free() {} }) };
  }
  const had = numbersOf(scope === currentScope() ? hadIn(scope) : answersHad, `${client} ${hash}`);
  return {
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
