/**
 * The operations of a ledger: all of them, page by page, or the one that a person means.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { MOST_NAMED } from "../../describe/decision-facts.ts";
import { begins, isCalled, SHORTEST } from "../../describe/names.ts";
import type { OperationQuery, OperationView } from "../../engine/admin/operations.ts";
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

/**
 * By its id, by the key that the service saw, by the id of the tool call that made it, or by the beginning of a key or id,
 * such as `holdfire doctor --live` prints. A whole name counts before a beginning.
 */
export async function findOperation(
  hf: Holdfire,
  asked: string,
  terminal: Terminal,
): Promise<OperationView> {
  const named = await hf.operations.get(asked);
  if (named) return named;
  const met: OperationView[] = [];
  const begun: OperationView[] = [];
  for await (const operation of eachOperation(hf, terminal)) {
    if (isCalled(operation, asked)) met.push(operation);
    else if (begun.length <= MOST_NAMED && begins(operation, asked)) begun.push(operation);
    // A key belongs to one operation; an alias may belong to several.
    if (met.length > MOST_NAMED || (met.length > 0 && !met[0]?.aliases.includes(asked))) break;
  }
  const [only, ...others] = met.length > 0 ? met : begun;
  if (!only) throw nothingCalled(asked);
  if (others.length > 0) throw several(asked, [only, ...others], met.length > 0);
  return (await hf.operations.get(only.id)) ?? only;
}

function nothingCalled(asked: string): FailedError {
  const short = asked.length < SHORTEST;
  const hint = short
    ? `The beginning of a key or id needs at least ${SHORTEST} characters.`
    : "npx holdfire ls lists the operations; --store and --tenant name another ledger.";
  return new FailedError(`There is no operation "${visible(asked)}" in this ledger.`, { hint });
}

function several(asked: string, met: readonly OperationView[], isWhole: boolean): FailedError {
  const shown = met.slice(0, MOST_NAMED);
  const names = shown.map(({ key, tool, status }) => `${key} (${visible(tool, 40)}, ${status})`);
  const more = met.length > MOST_NAMED ? ", and more" : "";
  const message = `"${visible(asked)}" names several operations: ${names.join(", ")}${more}.`;
  const hint = isWhole ? "Give the key of one of them." : "Give more of the key, or all of it.";
  const candidates = shown.map(({ id, key, tool, scope, status }) => ({
    ...{ id, key, tool, scope, status },
  }));
  return new FailedError(message, { hint, candidates });
}
