/**
 * The scope of a call, carried through asynchronous work.
 *
 * A scope's id is its segments, joined by a control character that callers cannot use. So a nested
 * scope never equals another one whose id reads the same.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { InvalidInputError } from "../errors.ts";
import { checkScope } from "./check-name.ts";

const SEPARATOR = "\u001f";
/** Marks the scope of an operation, in contrast to one that a caller named. */
const OPERATION = "\u001eop";
const MAX_SCOPE_LENGTH = 2_048;

/** The permission under which calls are made. */
export interface Scope {
  readonly id: string;
  /** Identifies one entry into the scope: drift is judged between runs. */
  readonly run: string;
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

const ambient = new AsyncLocalStorage<Scope>();

/** Calls `fn` in the scope `id`; inside another scope, as a segment of that scope. */
export function enterScope<T>(id: string, fn: () => T, options: EnterOptions = {}): T {
  const outer = ambient.getStore();
  const segment = checkScope(id);
  const joined = outer ? outer.id + SEPARATOR + segment : segment;
  if (joined.length > MAX_SCOPE_LENGTH) {
    throw new InvalidInputError(
      "scope",
      `must not be longer than ${MAX_SCOPE_LENGTH} characters, the enclosing scopes included.`,
    );
  }
  return enter(joined, fn, options);
}

/**
 * Calls `fn` as an attempt of an operation. Calls made inside belong to that operation, whatever
 * scope the operation itself is in.
 */
export function enterOperation<T>(operationId: string, fn: () => T, options: EnterOptions = {}): T {
  return enter(OPERATION + SEPARATOR + operationId, fn, options);
}

function enter<T>(
  id: string,
  fn: () => T,
  { fresh, run, random = () => crypto.randomUUID() }: EnterOptions,
): T {
  let named = run;
  const scope: Scope = {
    id,
    // Made when it is first asked for: most attempts make no calls of their own.
    get run() {
      named ??= random();
      return named;
    },
    fresh: fresh ?? ambient.getStore()?.fresh ?? false,
  };
  return ambient.run(scope, fn);
}

export const currentScope = (): Scope | undefined => ambient.getStore();

/** The scope of one call: the explicit one, else the ambient one. */
export function resolveScope(explicit: string | undefined): Scope | undefined {
  const around = ambient.getStore();
  if (explicit === undefined || explicit === around?.id) return around;
  // No `hf.scope()` entered it, so it has no run of its own; parallel calls must not look like
  // drift.
  return { id: checkScope(explicit), run: around?.run ?? "direct", fresh: false };
}

/** For people: `conversation-7 › turn-3`. */
export function showScope(id: string): string {
  return id
    .split(SEPARATOR)
    .map((segment) => (segment === OPERATION ? "operation" : segment))
    .join(" › ");
}
