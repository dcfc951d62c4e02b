/**
 * Plans: what a tool says it would change, checked before anybody is shown it.
 *
 * @module
 */

import type { Plan, PlannedChange } from "../engine/define/definition.ts";
import type { Tool } from "../engine/define/tool.ts";
import { InvalidInputError } from "../errors.ts";
import { canonicalize } from "../key/canonical.ts";
import { isJsonObject, type Json } from "../key/json.ts";
import type { InTime } from "../lang/clock.ts";
import { runAsLook } from "../wire/token.ts";

const TYPES = new Set<unknown>(["create", "update", "delete"] satisfies PlannedChange["type"][]);
const FIELDS = new Set(["type", "target", "before", "after"]);
const MOST_CHANGES = 1_000;
const LONGEST_TARGET = 512;

/** The frozen copy of a plan that is as it should be; else an error that says what is not. */
export function checkPlan(given: unknown, tool: string): Plan {
  const at = `plan of "${tool}"`;
  const { value } = canonicalize(given ?? null, at);
  const changes = isJsonObject(value) ? value.changes : undefined;
  if (!isJsonObject(value) || !Array.isArray(changes) || Object.keys(value).length > 1) {
    throw new InvalidInputError(at, "must be { changes: [...] } and nothing else.");
  }
  if (changes.length > MOST_CHANGES) {
    throw new InvalidInputError(at, `must not have more than ${MOST_CHANGES} changes.`);
  }
  for (const [index, change] of changes.entries()) checkChange(change, `${at}.changes[${index}]`);
  return value as unknown as Plan;
}

function checkChange(change: Json, at: string): void {
  if (!isJsonObject(change)) throw new InvalidInputError(at, "must be an object.");
  if (!TYPES.has(change.type)) {
    throw new InvalidInputError(`${at}.type`, `must be "create", "update" or "delete".`);
  }
  const { target } = change;
  if (typeof target !== "string" || target === "" || target.length > LONGEST_TARGET) {
    const rule = `must be text of 1 to ${LONGEST_TARGET} characters.`;
    throw new InvalidInputError(`${at}.target`, rule);
  }
  const unknown = Object.keys(change).find((field) => !FIELDS.has(field));
  // A person would not be shown it.
  if (unknown !== undefined)
    throw new InvalidInputError(at, "has a field that a change does not have.");
}

/** Why there is no plan: what the tool's own function threw, or that it took too long. */
export const whyNoPlan = (
  inTime: Exclude<InTime<unknown>, { tag: "done" }>,
  { name }: Tool,
): unknown =>
  inTime.tag === "failed"
    ? inTime.error
    : new InvalidInputError(`plan of "${name}"`, "did not answer in time.");

/** Asks the tool what it would change. Sends nothing, unless the user's own function does. */
export async function makePlan(tool: Tool, args: Json): Promise<Plan | undefined> {
  const { plan, name } = tool;
  if (!plan) return undefined;
  return checkPlan(await runAsLook(name, async () => plan(args)), name);
}
