/**
 * Search and filters of the list. They are in the address, so that a filtered list can be sent to a colleague.
 *
 * @module
 */

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";
import { named, STATUSES } from "../words.ts";

export interface Filtering {
  readonly q: string;
  readonly tool: string;
  readonly scope: string;
  readonly status: string;
  /** Made in the last so many hours. */
  readonly hours: string;
}

const TIMES = [
  ["", "any time"],
  ["1", "the last hour"],
  ["24", "the last day"],
  ["168", "the last week"],
  ["720", "the last 30 days"],
] as const;

/** Typing settles before the search begins. */
const SETTLED_MS = 350;

function go(filtering: Filtering): void {
  const set = Object.entries(filtering).filter(([, value]) => value !== "");
  const query = new URLSearchParams(set).toString();
  location.hash = query ? `/operations?${query}` : "/operations";
}

export function Filters({
  searchRef,
  ...given
}: Filtering & { readonly searchRef: RefObject<HTMLInputElement | null> }) {
  const address = JSON.stringify(given);
  const [typed, type] = useState<Filtering>(given);
  useEffect(() => type(JSON.parse(address) as Filtering), [address]);
  useEffect(() => {
    if (JSON.stringify(typed) === address) return;
    const timer = setTimeout(() => go(typed), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [typed, address]);
  const text = (name: "q" | "tool" | "scope", label: string, hint: string) => (
    <label class="field">
      {label}
      <input
        type="search"
        name={name}
        value={typed[name]}
        placeholder={hint}
        maxLength={512}
        {...(name === "q" && { ref: searchRef })}
        onInput={(event) => type({ ...typed, [name]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <form
      class="filters"
      aria-label="Search and filters"
      onSubmit={(event) => {
        event.preventDefault();
        go(typed);
      }}
    >
      {text("q", "Search ( / )", "id, key, scope, tool call…")}
      {text("tool", "Tool", "its whole name")}
      {text("scope", "Scope", "the whole scope")}
      <label class="field">
        Status
        <select
          name="status"
          value={typed.status}
          onChange={(event) => type({ ...typed, status: event.currentTarget.value })}
        >
          <option value="">any</option>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {named(status)}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        Made in
        <select
          name="hours"
          value={typed.hours}
          onChange={(event) => type({ ...typed, hours: event.currentTarget.value })}
        >
          {TIMES.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
    </form>
  );
}
