/**
 * The scope a call is made under, carried along with the asynchronous work.
 *
 * A scope's id is its segments, joined by a control character that no caller can write. So a nested
 * scope is never taken for another one that spells the same.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { InvalidInputError } from "../errors.ts";
import { checkScope } from "./check-name.ts";

const SEPARATOR = "\u001f";
/** Marks a scope that is an operation's and not a caller's. */
const OPERATION = "\u001eop";
const MAX_SCOPE_LENGTH = 2_048;

/** The permission under which calls are made. */
export interface Scope {
  readonly id: string;
  /** Names one entry into the scope: drift is judged between runs. */
  readonly run: string;
  /** The caller vouches that nothing was done under this scope before. */
  readonly fresh: boolean;
}

export interface EnterOptions {
  /**
   * Vouches that nothing was done under this scope before, so a ledger that lost data is no obstacle.
   *
   * @default that of the scope around it, else `false`
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

/** Calls `fn` in the scope `id`; inside another scope, in a segment of that one. */
export function enterScope<T>(id: string, fn: () => T, options: EnterOptions = {}): T {
  const outer = ambient.getStore();
  const segment = checkScope(id);
  const joined = outer ? outer.id + SEPARATOR + segment : segment;
  if (joined.length > MAX_SCOPE_LENGTH) {
    throw new InvalidInputError(
      "scope",
      `must not be longer than ${MAX_SCOPE_LENGTH} characters with the scopes around it.`,
    );
  }
  return enter(joined, fn, options);
}

/**
 * Calls `fn` as an attempt of an operation. What it does belongs to that operation, whatever scope the
 * operation itself was in.
 */
export function enterOperation<T>(operationId: string, fn: () => T, options: EnterOptions = {}): T {
  return enter(OPERATION + SEPARATOR + operationId, fn, options);
}

function enter<T>(
  id: string,
  fn: () => T,
  { fresh, run, random = () => crypto.randomUUID() }: EnterOptions,
): T {
  const scope: Scope = {
    id,
    run: run ?? random(),
    fresh: fresh ?? ambient.getStore()?.fresh ?? false,
  };
  return ambient.run(scope, fn);
}

export const currentScope = (): Scope | undefined => ambient.getStore();

/** The scope of one call: the explicit one, else the ambient one. */
export function resolveScope(explicit: string | undefined): Scope | undefined {
  const around = ambient.getStore();
  if (explicit === undefined || explicit === around?.id) return around;
  // Nobody entered it, so it has no run of its own; calls made side by side must not look like drift.
  return { id: checkScope(explicit), run: around?.run ?? "direct", fresh: false };
}

/** For people: `conversation-7 › turn-3`. */
export function showScope(id: string): string {
  return id
    .split(SEPARATOR)
    .map((segment) => (segment === OPERATION ? "operation" : segment))
    .join(" › ");
}
