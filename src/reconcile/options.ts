/**
 * Checks the options that `hf.reconcile` and `hf.driftReport` share. A misspelt tool is an error, not an
 * empty report.
 *
 * @module
 */

import { show, wholeNumber } from "../engine/define/check.ts";
import type { Tool } from "../engine/define/tool.ts";
import { InvalidInputError } from "../errors.ts";

const DEFAULT_LIMIT = 1_000;

/** A tool by its name, or the tool itself. */
export type ToolChoice = string | { readonly toolName: string };

export type Tools = ReadonlyMap<string, Tool>;

/** The chosen tools, or all. */
export function chosenTools(
  chosen: readonly ToolChoice[] | undefined,
  tools: Tools,
  path: string,
): Tools {
  if (chosen === undefined) return tools;
  if (!Array.isArray(chosen)) throw new InvalidInputError(`${path}.tools`, "must be a list.");
  return new Map(
    chosen.map((choice: ToolChoice) => {
      const name = typeof choice === "string" ? choice : choice?.toolName;
      const tool = tools.get(name);
      if (!tool) {
        const rule = `must name tools made by hf.tool, got ${show(name)}.`;
        throw new InvalidInputError(`${path}.tools`, rule);
      }
      return [name, tool];
    }),
  );
}

export const checkLimit = (limit: unknown, path: string): number =>
  wholeNumber(limit ?? DEFAULT_LIMIT, `${path}.limit`);

export function checkTime(time: number | undefined, path: string): number | undefined {
  if (time === undefined || (typeof time === "number" && Number.isFinite(time))) return time;
  throw new InvalidInputError(path, `must be a time in milliseconds, got ${show(time)}.`);
}

/** A listener whose failures are ignored. */
export function listenerOf<T>(
  onProgress: ((progress: T) => void) | undefined,
  path: string,
): (progress: T) => void {
  if (onProgress === undefined) return () => {};
  if (typeof onProgress !== "function") {
    throw new InvalidInputError(`${path}.onProgress`, "must be a function.");
  }
  return (progress) => {
    try {
      const returned: unknown = onProgress(progress);
      if (returned instanceof Promise) returned.catch(() => {});
    } catch {
      // Progress is for people; it must not end the pass.
    }
  };
}

/** The ids of operations that were named, or none. */
export function checkIds(ids: unknown, limit: number): void {
  if (ids === undefined) return;
  if (!Array.isArray(ids) || !ids.every((id) => typeof id === "string")) {
    throw new InvalidInputError("reconcile.ids", "must be a list of the ids of operations.");
  }
  if (ids.length > limit) {
    throw new InvalidInputError("reconcile.ids", `must not be more than the limit, ${limit}.`);
  }
}
