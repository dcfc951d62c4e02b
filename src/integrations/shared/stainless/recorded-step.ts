/**
 * Names the steps of a scope: the same calls in the same order have the same names in every run.
 *
 * @module
 */

import { show } from "../../../engine/define/check.ts";
import type { SampleStep } from "../../../engine/loops/sample-record.ts";
import { InvalidInputError, MissingScopeError } from "../../../errors.ts";
import { digestText } from "../../../key/digest.ts";
import { currentScope, resolveScope, type Scope } from "../../../key/scope.ts";
import type { Owning, StepRequest } from "./own-options.ts";

const LONGEST_STEP = 256;

/** How often each call was made since a scope was entered. */
export type Ordinals = Map<string, number>;

const entries = new WeakMap<Scope, Ordinals>();

export interface NamedStep extends SampleStep {
  /** The call failed: the next one like it is the same step. */
  readonly release: () => void;
}

export function nameStep(
  client: string,
  request: StepRequest,
  text: string,
  { options, ordinals: own }: { readonly options: Owning; readonly ordinals: Ordinals },
): NamedStep {
  const scope = resolveScope(options.scope);
  if (!scope) throw new MissingScopeError(`sample:${client}`);
  const { method, path } = request;
  const hash = digestText("sample", method, path, text);
  if (options.step) {
    const step = checkStep(options.step(request));
    return { client, scope, step, hash, release: () => {} };
  }
  const counts = scope === currentScope() ? countsOf(scope) : own;
  const name = `${method} ${path}`;
  const counted = `${client} ${name}`;
  const number = (counts.get(counted) ?? 0) + 1;
  counts.set(counted, number);
  return {
    client,
    scope,
    step: `${name} #${number}`,
    hash,
    release() {
      if (counts.get(counted) === number) counts.set(counted, number - 1);
    },
  };
}

function countsOf(scope: Scope): Ordinals {
  const counts = entries.get(scope) ?? new Map();
  entries.set(scope, counts);
  return counts;
}

function checkStep(step: unknown): string {
  if (typeof step === "string" && step !== "" && step.length <= LONGEST_STEP) return step;
  const rule = `must return 1 to ${LONGEST_STEP} characters, got ${show(step)}.`;
  throw new InvalidInputError("step", rule);
}
