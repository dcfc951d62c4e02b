/**
 * The operation that a person means: by its id, by the key the service saw, or by the id of the tool
 * call that made it.
 *
 * @module
 */

import type { OperationView } from "../engine/admin/operations.ts";
import type { Holdfire } from "../holdfire.ts";
import { wireKey } from "../key/mint.ts";
import { eachOperation } from "./each-operation.ts";
import { FailedError } from "./exit.ts";
import { visible } from "./printable.ts";
import type { Terminal } from "./terminal.ts";

/** More than anybody wants to choose from. */
const MOST_NAMED = 5;
/** Generations of a key that are looked at, at most. */
const MOST_KEYS = 16;

export async function findOperation(
  hf: Holdfire,
  asked: string,
  terminal: Terminal,
): Promise<OperationView> {
  const named = await hf.operations.get(asked);
  if (named) return named;
  const met: OperationView[] = [];
  for await (const operation of eachOperation(hf, terminal)) {
    if (isCalled(operation, asked)) met.push(operation);
    // A key belongs to one operation; an alias may belong to several.
    if (met.length > MOST_NAMED || (met.length > 0 && !met[0]?.aliases.includes(asked))) break;
  }
  const [only, ...others] = met;
  if (!only) throw new FailedError(`There is no operation "${visible(asked)}" in this ledger.`);
  if (others.length > 0) {
    const keys = met.slice(0, MOST_NAMED).map(({ key, tool }) => `${key} (${visible(tool, 40)})`);
    throw new FailedError(
      `"${visible(asked)}" stands for several operations: ${keys.join(", ")}. Name one of the keys.`,
    );
  }
  return only;
}

function isCalled(operation: OperationView, asked: string): boolean {
  const { id, key, aliases, attempts } = operation;
  if (key === asked || aliases.includes(asked)) return true;
  const generations = new Set(attempts.map(({ generation }) => generation));
  return [...generations].slice(-MOST_KEYS).some((number) => wireKey(id, number) === asked);
}
