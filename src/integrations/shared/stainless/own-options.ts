/**
 * How a client's calls are owned: the options of `ownRetries`, checked when they are given.
 *
 * @module
 */

import { show } from "../../../engine/define/check.ts";
import type { SampleOptions } from "../../../engine/reads-and-samples/sample.ts";
import { InvalidInputError } from "../../../errors.ts";
import { checkScope } from "../../../key/check-name.ts";
import { checkSampleOptions } from "../retries/sampled-call.ts";

/** What a step is named after. */
export interface StepRequest {
  /** In capitals. */
  readonly method: string;
  /** As the client names it, e.g. `/responses`. */
  readonly path: string;
  /** What is asked. */
  readonly body: unknown;
}

export interface OwnOptions extends SampleOptions {
  /**
   * Keeps the first answer to each step of a scope, and gives it back when the scope is run again:
   * the same answer, and nothing to pay. Only a POST with a JSON body is kept; a GET always reads.
   * Needs a scope: `hf.scope(id, …)` around the call, or `scope` here.
   *
   * @default false
   */
  readonly record?: boolean | undefined;
  /**
   * The scope of recorded steps, in place of the one around the call.
   *
   * @default that of `hf.scope`
   */
  readonly scope?: string | undefined;
  /**
   * Names a recorded step. The same name in the same scope is the same step, also within one run; with
   * another request it is asked again, and `prompt_drift` is raised.
   * To tell equal requests of parallel work apart, put each in a scope of its own: `hf.scope("left", () => …)`.
   *
   * @default the request itself, and the number of its answer among those to equal requests of the scope
   */
  readonly step?: ((request: StepRequest) => string) | undefined;
}

/** Options with the defaults filled in. */
export interface Owning extends Required<SampleOptions> {
  readonly record: boolean;
  readonly scope: string | undefined;
  readonly step: ((request: StepRequest) => string) | undefined;
}

export function checkOwnOptions(options: OwnOptions): Owning {
  const sampling = checkSampleOptions(options, ["record", "scope", "step"]);
  const { record = false, scope, step } = options;
  if (typeof record !== "boolean") {
    throw new InvalidInputError("options.record", `must be true or false, got ${show(record)}.`);
  }
  if (step !== undefined && typeof step !== "function") {
    throw new InvalidInputError("options.step", `must be a function, got ${show(step)}.`);
  }
  return { ...sampling, record, scope: scope === undefined ? undefined : checkScope(scope), step };
}

/** A count that the SDK would not take for what it says: "0" and -1 mean 2 to one, for ever to another. */
export function checkMaxRetries(value: unknown, path: string): void {
  if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0)) return;
  const given = `${show(value)} (${typeof value})`;
  throw new InvalidInputError(path, `must be a whole number from 0, got ${given}.`);
}
