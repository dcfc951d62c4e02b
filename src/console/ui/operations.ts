/**
 * The rows of the list: loaded page by page, and kept up to date by what changes.
 *
 * A search that has not filled a page goes on by itself, step by step, until it has, until the ledger ends, or until the
 * person stops it.
 *
 * @module
 */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { OperationPage, OperationRow, Problem } from "../model.ts";
import { get } from "./api.ts";
import { useLive } from "./load.ts";
import type { Filtering } from "./parts/filters.tsx";

interface ListState {
  readonly isBusy: boolean;
  /** It goes on by itself. */
  readonly isSearching: boolean;
  readonly isEnd: boolean;
  readonly looked: number;
  readonly backTo?: number | undefined;
  readonly problem?: Problem | undefined;
}

interface Operations {
  readonly rows: readonly OperationRow[];
  readonly state: ListState;
  readonly more: () => void;
  readonly stop: () => void;
}

const PAGE = 50;
const HOUR_MS = 3_600_000;
const START: ListState = { isBusy: true, isSearching: false, isEnd: false, looked: 0 };

export function useOperations(filtering: Filtering): Operations {
  const { q, tool, scope, status, hours } = filtering;
  const [rows, setRows] = useState<ReadonlyMap<string, OperationRow>>(new Map());
  const [state, setState] = useState<ListState>(START);
  /** The run of loading that counts; an older one stops. */
  const run = useRef(0);
  const cursor = useRef<string>(undefined);

  const load = useCallback(async () => {
    const own = ++run.current;
    let found = 0;
    for (;;) {
      setState((before) => ({ ...before, isBusy: true }));
      const query = new URLSearchParams(
        Object.entries({ q, tool, scope, status, cursor: cursor.current ?? "" }).filter(
          ([, v]) => v,
        ),
      );
      if (hours) query.set("since", String(Date.now() - Number(hours) * HOUR_MS));
      const answered = await get<OperationPage>(`api/operations?${query}`);
      if (own !== run.current) return;
      if (!answered.ok) {
        setState((before) => ({ ...before, isBusy: false, problem: answered.problem }));
        return;
      }
      const page = answered.value;
      found += page.items.length;
      cursor.current = page.cursor;
      setRows((before) => merged(before, page.items));
      const goesOn = page.cursor !== undefined && found < PAGE;
      setState((before) => ({
        isBusy: goesOn,
        isSearching: goesOn,
        isEnd: page.cursor === undefined,
        looked: before.looked + page.looked,
        backTo: page.backTo ?? before.backTo,
      }));
      if (!goesOn) return;
    }
  }, [q, tool, scope, status, hours]);

  const begin = useCallback(() => {
    cursor.current = undefined;
    setState(START);
    void load();
  }, [load]);

  useEffect(() => {
    setRows(new Map());
    begin();
    return () => void run.current++;
  }, [begin]);

  useLive(
    (what) => {
      if (what === "lost") return;
      // A new connection: what changed before it is read again, and what is shown stays.
      if (what === "ready") return begin();
      setRows((before) =>
        before.has(what.id) || isIn(what, filtering) ? merged(before, [what]) : before,
      );
    },
    [begin],
  );

  const stop = useCallback(() => {
    run.current += 1;
    setState((before) => ({ ...before, isBusy: false, isSearching: false }));
  }, []);
  const sorted = [...rows.values()].sort((one, other) => other.createdAt - one.createdAt);
  return { rows: sorted, state, more: () => void load(), stop };
}

function merged(
  before: ReadonlyMap<string, OperationRow>,
  rows: readonly OperationRow[],
): ReadonlyMap<string, OperationRow> {
  const all = new Map(before);
  for (const row of rows) all.set(row.id, row);
  return all;
}

/** A row that has changed belongs in the list if what can be compared here does. */
function isIn(row: OperationRow, { q, tool, scope, status }: Filtering): boolean {
  const text = `${row.id} ${row.key} ${row.tool} ${row.scope} ${row.resource ?? ""}`.toLowerCase();
  return (
    (tool === "" || row.tool === tool) &&
    (scope === "" || row.scope === scope) &&
    (status === "" || row.status === status) &&
    (q === "" || text.includes(q.toLowerCase()))
  );
}
