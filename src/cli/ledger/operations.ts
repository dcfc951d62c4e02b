/**
 * The operations of a ledger: all of them, page by page, or the one that a person means.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import type { OperationQuery, OperationView } from "../../engine/admin/operations.ts";
import { wireKey } from "../../key/mint.ts";
import { FailedError } from "../command.ts";
import { type Terminal, visible } from "../terminal.ts";

interface Page<T> {
  readonly items: readonly T[];
  readonly unreadable?: readonly string[] | undefined;
  readonly cursor?: string | undefined;
}

/** All items of a list, with the progress on stderr. Fails when the person stops it: the rest is not known. */
export async function* eachItem<T>(
  pageAt: (cursor: string | undefined) => Promise<Page<T>>,
  terminal: Terminal,
): AsyncGenerator<T> {
  let count = 0;
  let cursor: string | undefined;
  try {
    do {
      if (terminal.signal.aborted) throw new FailedError("It was stopped before the end.");
      const page = await pageAt(cursor);
      tellUnreadable(page, terminal);
      yield* page.items;
      count += page.items.length;
      if (page.cursor !== undefined) terminal.status(`read ${count} operations`);
      ({ cursor } = page);
    } while (cursor !== undefined);
  } finally {
    terminal.status("");
  }
}

/** What a list leaves out is told beside it. */
export function tellUnreadable(
  { unreadable = [] }: Pick<Page<unknown>, "unreadable">,
  terminal: Terminal,
): void {
  for (const id of unreadable) terminal.err(`The record of operation ${visible(id)} is damaged.`);
}

const PAGE = 500;

export const eachOperation = (
  hf: Holdfire,
  terminal: Terminal,
  query: OperationQuery = {},
): AsyncGenerator<OperationView> =>
  eachItem((cursor) => hf.operations.list({ ...query, limit: PAGE, cursor }), terminal);

/** More than a person wants to choose from. */
const MOST_NAMED = 5;
/** Generations of a key that are compared, at most. */
const MOST_KEYS = 16;

/** By its id, by the key that the service saw, or by the id of the tool call that made it. */
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
      `"${visible(asked)}" names several operations: ${keys.join(", ")}. Give the key of one of them.`,
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
