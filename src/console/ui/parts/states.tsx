/**
 * What a view shows when it has nothing to show: it loads, it failed, or there is nothing.
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import type { Problem, StateTag } from "../../model.ts";
import type { Loaded } from "../load.ts";
import { named, STATUS } from "../words.ts";
import { Term } from "./text.tsx";

export function Failed({ problem }: { readonly problem: Problem }) {
  return (
    <div class="notice bad" role="alert">
      <strong>{problem.error}</strong>
      {problem.hint && <p>{problem.hint}</p>}
    </div>
  );
}

export const Empty = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="notice empty">{children}</div>
);

/** What was loaded, once it is there. */
export function Show<T>({
  loaded,
  children,
}: {
  readonly loaded: Loaded<T>;
  readonly children: (value: T) => ComponentChildren;
}) {
  if (loaded.tag === "loading") return <p class="loading">Loading…</p>;
  if (loaded.tag === "failed") return <Failed problem={loaded.problem} />;
  return (
    <>
      {loaded.problem && <Failed problem={loaded.problem} />}
      {children(loaded.value)}
    </>
  );
}

/** The status of an operation: by its word first, and by its colour. */
export function Status({
  status,
  reason,
  explained = false,
}: {
  readonly status: StateTag;
  readonly reason?: string | undefined;
  readonly explained?: boolean;
}) {
  const badge = (
    <span class={`status ${status}`} title={explained ? undefined : STATUS[status]}>
      {named(status)}
    </span>
  );
  return (
    <>
      {explained ? <Term hint={STATUS[status]}>{badge}</Term> : badge}
      {reason && <span class="reason"> {named(reason)}</span>}
    </>
  );
}
