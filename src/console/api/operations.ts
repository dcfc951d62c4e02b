/**
 * A page of operations, the newest first, searched and filtered.
 *
 * A filter that no index of the store serves is compared here, record by record, for a limited time: the page then says
 * how far it looked, and its cursor goes on from there. So a rare match in a million operations is searched for in
 * steps, and no request hangs.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { scopeFrom } from "../../describe/decision-facts.ts";
import { begins } from "../../describe/names.ts";
import type { OperationQuery, OperationView } from "../../engine/admin/operations.ts";
import { engineOf } from "../../engine/engine-of.ts";
import { InvalidInputError } from "../../errors.ts";
import { isOpen, type State, type StateTag } from "../../ledger/record.ts";
import type { OperationPage } from "../model.ts";
import { rowOf } from "./rows.ts";

const PAGE = 50;
/** How many are read at a time where most of them may not match. */
const CHUNK = 500;
const BUDGET_MS = 400;
const LONGEST = 512;

const STATES: readonly StateTag[] = [
  ...(["held", "claimed", "unknown", "committed", "not_applied", "denied"] as const),
];

interface Wanted {
  readonly text?: string | undefined;
  readonly tool?: string | undefined;
  readonly states?: readonly StateTag[] | undefined;
  /** Made since, and made before. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export async function operationsPage(
  hf: Holdfire,
  params: URLSearchParams,
): Promise<OperationPage> {
  const wanted: Wanted = {
    text: textOf(params, "q"),
    tool: textOf(params, "tool"),
    states: statesOf(params.getAll("status")),
    since: timeOf(params, "since"),
    until: timeOf(params, "until"),
  };
  const scope = textOf(params, "scope");
  const query: OperationQuery = {
    newestFirst: true,
    scope: scope && scopeFrom(scope),
    status: wanted.states?.every(isOpenTag) ? wanted.states : undefined,
  };
  const cursor = textOf(params, "cursor");
  const named = cursor === undefined ? await namedBy(hf, wanted, query) : [];
  // An id names one operation: there is nothing to search for.
  if (named.some(({ id }) => id === wanted.text)) {
    return { items: named.map(rowOf), looked: named.length, unreadable: [] };
  }
  const page = await search(hf, wanted, query, cursor);
  const items = [...new Map([...named, ...page.items].map((one) => [one.id, one])).values()];
  return { ...page, items: items.map(rowOf) };
}

/** What an index finds at once: an id, a scope or a resource, given whole. */
async function namedBy(
  hf: Holdfire,
  wanted: Wanted,
  query: OperationQuery,
): Promise<readonly OperationView[]> {
  const { text } = wanted;
  if (text === undefined) return [];
  const one = await hf.operations.get(text);
  const limit = PAGE;
  const inScope = await hf.operations.list({ ...query, scope: scopeFrom(text), limit });
  const onResource = await hf.operations.list({ ...query, resource: text, limit });
  const found = [...(one ? [one] : []), ...inScope.items, ...onResource.items];
  const inQuery = ({ scope }: OperationView) =>
    query.scope === undefined || scopeFrom(scope) === query.scope;
  const rest = { ...wanted, text: undefined };
  return found.filter((operation) => inQuery(operation) && isWanted(operation, rest));
}

type Found = Omit<OperationPage, "items"> & { readonly items: readonly OperationView[] };

async function search(
  hf: Holdfire,
  wanted: Wanted,
  query: OperationQuery,
  from: string | undefined,
): Promise<Found> {
  const { clock } = engineOf(hf);
  const { text, tool, states, since = -Infinity, until } = wanted;
  const isRare = text ?? tool ?? until ?? (query.status ? undefined : states);
  const limit = isRare === undefined ? PAGE : CHUNK;
  const started = clock.monotonic();
  const items: OperationView[] = [];
  const unreadable: string[] = [];
  let looked = 0;
  let backTo: number | undefined;
  let cursor = from;
  do {
    const page = await hf.operations.list({ ...query, limit, cursor });
    looked += page.items.length;
    unreadable.push(...(page.unreadable ?? []));
    items.push(...page.items.filter((operation) => isWanted(operation, wanted)));
    backTo = page.items.at(-1)?.createdAt ?? backTo;
    cursor = page.cursor;
    // In the order of creation: what follows was made before. And a key belongs to one operation.
    const isOver = backTo !== undefined && backTo < since;
    if (isOver || page.items.some(({ key }) => key === text)) cursor = undefined;
  } while (cursor !== undefined && items.length < PAGE && clock.monotonic() - started < BUDGET_MS);
  return { items, cursor, looked, backTo, unreadable };
}

function isWanted(operation: OperationView, wanted: Wanted): boolean {
  const { text, tool, states, since, until } = wanted;
  return (
    (tool === undefined || operation.tool === tool) &&
    (states === undefined || states.includes(operation.status)) &&
    (since === undefined || operation.createdAt >= since) &&
    (until === undefined || operation.createdAt < until) &&
    (text === undefined || mentions(operation, text))
  );
}

/** What a key or an id may begin with. */
const KEY_PART = /^[\w-]{6,64}$/;

function mentions(operation: OperationView, text: string): boolean {
  if (operation.aliases.includes(text)) return true;
  // To work out the keys costs more than all the rest. A whole one begins with itself.
  if (KEY_PART.test(text) && begins(operation, text)) return true;
  const { tool, scope, resource, effectId, reason, by } = operation;
  const sought = text.toLowerCase();
  return [tool, scope, resource, effectId, reason, by].some(
    (part) => part?.toLowerCase().includes(sought) === true,
  );
}

const isOpenTag = (tag: StateTag): boolean => isOpen({ tag } as State);

function textOf(params: URLSearchParams, name: string): string | undefined {
  const text = params.get(name)?.trim();
  if (!text) return undefined;
  if (text.length > LONGEST) {
    throw new InvalidInputError(name, `must not be longer than ${LONGEST} characters.`);
  }
  return text;
}

function timeOf(params: URLSearchParams, name: string): number | undefined {
  const text = textOf(params, name);
  const time = text === undefined ? undefined : Number(text);
  if (time === undefined || Number.isFinite(time)) return time;
  throw new InvalidInputError(name, "must be a time in milliseconds.");
}

function statesOf(given: readonly string[]): readonly StateTag[] | undefined {
  const states = given.map((text) => {
    const state = STATES.find((one) => one === text);
    if (!state) throw new InvalidInputError("status", `must be one of ${STATES.join(", ")}.`);
    return state;
  });
  return states.length > 0 ? states : undefined;
}
