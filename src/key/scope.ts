/**
 * The scope of a call, carried through asynchronous work.
 *
 * A scope's id is its segments, joined by a control character that callers cannot use. So a nested
 * scope never equals another one whose id reads the same.
 *
 * @module
 */

import { InvalidInputError } from "../errors.ts";
import { ambient, runAmbient } from "../lang/ambient.ts";
import { checkScope } from "./check-name.ts";

export const SEPARATOR = "\u001f";
/** Marks the scope of an operation, in contrast to one that a caller named. */
const OPERATION = "\u001eop";
const MAX_SCOPE_LENGTH = 2_048;

/** What a person authorised: one request, job or step. Its calls are made under this permission. */
export interface Scope {
  readonly id: string;
  /** Identifies one entry into the scope: drift is judged between runs. */
  readonly run: () => string;
  /** The run was given, and may appear in what a model writes. */
  readonly isRunNamed: boolean;
  /** The caller guarantees that nothing was done in this scope before. */
  readonly fresh: boolean;
}

export interface EnterOptions {
  /**
   * Guarantees that nothing was done in this scope before, so a ledger that lost data is no
   * obstacle.
   *
   * @default the value of the enclosing scope, else `false`
   */
  readonly fresh?: boolean | undefined;
  /**
   * Names this run; give the framework's own run id where there is one.
   *
   * @default a random id
   */
  readonly run?: string | undefined;
  /** Makes the run's id. @default crypto.randomUUID */
  readonly random?: (() => string) | undefined;
}

/** Calls `fn` in the scope `id`; inside another scope, as a segment of that scope. */
export function enterScope<T>(id: string, fn: () => T, options: EnterOptions = {}): T {
  const outer = currentScope();
  const segment = checkScope(id);
  const joined = outer ? outer.id + SEPARATOR + segment : segment;
  if (joined.length > MAX_SCOPE_LENGTH) {
    throw new InvalidInputError(
      "scope",
      `must not be longer than ${MAX_SCOPE_LENGTH} characters, the enclosing scopes included.`,
    );
  }
  return runAmbient({ ...ambient(), scope: scopeOf(joined, options) }, fn);
}

/**
 * The scope of what an attempt of this operation calls: that belongs to the operation, whatever scope the
 * operation itself is in.
 */
export const operationScope = (operationId: string, options: EnterOptions = {}): Scope =>
  scopeOf(OPERATION + SEPARATOR + operationId, options);

/** Calls `fn` as an attempt of an operation would be called. */
export const enterOperation = <T>(operationId: string, fn: () => T, options?: EnterOptions): T =>
  runAmbient({ ...ambient(), scope: operationScope(operationId, options) }, fn);

function scopeOf(id: string, { fresh, run, random = randomUUID }: EnterOptions): Scope {
  let named = run;
  return {
    id,
    // Made when it is first asked for: most scopes never need one.
    run() {
      named ??= random();
      return named;
    },
    isRunNamed: run !== undefined,
    fresh: fresh ?? currentScope()?.fresh ?? false,
  };
}

const DIRECT = (): string => "direct";

const randomUUID = (): string => crypto.randomUUID();

export const currentScope = (): Scope | undefined => ambient().scope as Scope | undefined;

/** The scope of one call: the explicit one, else the ambient one. */
export function resolveScope(explicit: string | undefined): Scope | undefined {
  const around = currentScope();
  if (explicit === undefined || explicit === around?.id) return around;
  // No `hf.scope()` entered it, so it has no run of its own; parallel calls must not look like
  // drift.
  return {
    id: checkScope(explicit),
    run: around?.run ?? DIRECT,
    isRunNamed: around?.isRunNamed ?? false,
    fresh: false,
  };
}

/** For people: `conversation-7 › turn-3`. */
export function showScope(id: string): string {
  return id
    .split(SEPARATOR)
    .map((segment) => (segment === OPERATION ? "operation" : segment))
    .join(" › ");
}
