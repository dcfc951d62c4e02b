/**
 * The list of operations, the newest first: searched, filtered, page by page, and live.
 *
 * @module
 */

import { useEffect, useRef } from "preact/hooks";
import type { OperationRow, Session } from "../../model.ts";
import { useOperations } from "../operations.ts";
import { type Filtering, Filters } from "../parts/filters.tsx";
import { Empty, Failed, Status } from "../parts/states.tsx";
import { Foreign, Term, Time } from "../parts/text.tsx";
import { countOf, GLOSSARY, timeOf } from "../words.ts";

export function OperationsView({
  session,
  query,
}: {
  readonly session: Session;
  readonly query: URLSearchParams;
}) {
  const filtering: Filtering = {
    q: query.get("q") ?? "",
    tool: query.get("tool") ?? "",
    scope: query.get("scope") ?? "",
    status: query.get("status") ?? "",
    hours: query.get("hours") ?? "",
  };
  const { rows, state, more, stop } = useOperations(filtering);
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches("input, select");
      if (event.key !== "/" || isTyping) return;
      event.preventDefault();
      search.current?.focus();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return (
    <>
      <h1 tabIndex={-1}>Operations</h1>
      <Filters {...filtering} searchRef={search} />
      {state.problem && <Failed problem={state.problem} />}
      <p class="reason" role="status">
        {countOf(rows.length, "operation")} shown
        {state.looked > rows.length && `, ${state.looked.toLocaleString()} compared`}
        {state.backTo !== undefined && !state.isEnd && `, back to ${timeOf(state.backTo)}`}
        {state.isBusy && ". Searching…"}{" "}
        {state.isSearching && (
          <button type="button" class="small" onClick={stop}>
            Stop
          </button>
        )}
      </p>
      {rows.length === 0 && !state.isBusy && !state.problem && <Nothing filtering={filtering} />}
      {rows.length > 0 && <Table rows={rows} now={session.now} />}
      {!state.isEnd && !state.isBusy && (
        <button type="button" onClick={more}>
          Show older ones
        </button>
      )}
    </>
  );
}

const Nothing = ({ filtering }: { readonly filtering: Filtering }) => (
  <Empty>
    {Object.values(filtering).some(Boolean) ? (
      <>
        <strong>No operation matches.</strong>
        <p>
          Search by a whole id, key or scope, the beginning of a key, or a part of a tool's name; or{" "}
          <a href="#/operations">show all</a>.
        </p>
      </>
    ) : (
      <>
        <strong>The ledger has no operations yet.</strong>
        <p>They appear here by themselves when your program calls a guarded tool.</p>
      </>
    )}
  </Empty>
);

const Table = ({ rows, now }: { readonly rows: readonly OperationRow[]; readonly now: number }) => (
  <table class="operations">
    <thead>
      <tr>
        <th scope="col">Tool</th>
        <th scope="col">Status</th>
        <th scope="col">
          <Term hint={GLOSSARY.scope}>Scope</Term>
        </th>
        <th scope="col">
          <Term hint={GLOSSARY.fired}>Fired</Term>
        </th>
        <th scope="col">Made</th>
      </tr>
    </thead>
    <tbody>
      {rows.map((row) => (
        <Row key={row.id} row={row} now={now} />
      ))}
    </tbody>
  </table>
);

function Row({ row, now }: { readonly row: OperationRow; readonly now: number }) {
  return (
    <tr data-operation={row.id}>
      <td class="name">
        <a href={`#/operations/${row.id}`}>
          <Foreign text={row.tool} />
        </a>
      </td>
      <td>
        <Status status={row.status} reason={row.reason} />
      </td>
      <td class="scope">
        <Foreign text={row.scope} />
      </td>
      <td class="number">
        <span class="narrow">fired </span>
        {row.fired}
      </td>
      <td>
        <Time at={row.createdAt} now={Math.max(row.createdAt, now)} />
      </td>
    </tr>
  );
}
