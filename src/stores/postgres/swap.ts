/**
 * Binds changes to the statement that makes them, and reads what became of each.
 *
 * @module
 */

import type { Swapped } from "../../ledger/store.ts";
import { lines, numbers, texts, words } from "./array.ts";
import type { Row, Session, Statement } from "./connection.ts";
import { type Asked, laneIn, leaseIn, storedIn } from "./row.ts";

/** `"busy"`: the row is as expected, but locked, or just changing. Nothing was written. */
export type Answer = Swapped | "busy";

/** The same statement in several sizes. */
export interface SwapStatements {
  readonly plain: Statement;
  /** With lanes and removals. */
  readonly whole: Statement;
  /** For one change alone: of a new record, and of one that is there. */
  readonly lone?: { readonly first: Statement; readonly next: Statement } | undefined;
}

/** The keys of `asked` are all different, and so are those of its lanes. */
export async function swapAll(
  session: Session,
  statements: SwapStatements,
  asked: readonly Asked[],
): Promise<ReadonlyMap<string, Answer>> {
  // Everybody locks in this order, so no two can wait for each other.
  const sorted = asked.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const whole = sorted.some(({ lane, text }) => lane !== undefined || text === undefined);
  const [only] = sorted.length === 1 && !whole ? sorted : [];
  const answer = only && statements.lone && (await swapOne(session, statements.lone, only));
  if (only && answer) return new Map([[only.key, answer]]);
  const rows = whole
    ? await session.run(statements.whole, [...columnsOf(sorted), ...laneColumnsOf(sorted)])
    : await session.run(statements.plain, columnsOf(sorted));
  return answersIn(sorted, rows);
}

/** What never changes of a record is only bound when it is new: a known row keeps its own. */
function columnsOf(asked: readonly Asked[]): string[] {
  const ofNew = (value: (one: Asked) => string): string[] =>
    asked.map((one) => (one.change.expect === 0 || one.lane ? value(one) : ""));
  const record = ({ change }: Asked) => change.record;
  return [
    words(asked.map(({ key }) => key)),
    numbers(asked.map(({ change }) => change.expect)),
    numbers(asked.map(({ lease }) => lease)),
    numbers(asked.map(({ phase }) => phase)),
    numbers(asked.map((one) => record(one)?.stateAt ?? 0)),
    words(asked.map((one) => record(one)?.state.tag ?? "none")),
    texts(ofNew(({ change }) => change.tenant)),
    texts(ofNew(({ change }) => change.id)),
    texts(ofNew((one) => record(one)?.tool ?? "")),
    texts(ofNew((one) => record(one)?.scope ?? "")),
    texts(asked.map((one) => record(one)?.resource)),
    lines(asked.map(({ text }) => text)),
  ];
}

const laneColumnsOf = (asked: readonly Asked[]): string[] => [
  words(asked.map(({ lane }) => lane?.key)),
  numbers(asked.map(({ lane }) => lane?.expect)),
  texts(asked.map(({ lane }) => lane?.name)),
  lines(asked.map(({ lane }) => lane?.text)),
];

/** Nothing when the statement cannot tell: then the one for many can. */
async function swapOne(
  session: Session,
  { first, next }: NonNullable<SwapStatements["lone"]>,
  asked: Asked,
): Promise<Answer | undefined> {
  const { change, key, lease, phase, text } = asked;
  const { tenant, id, expect, record } = change;
  if (!record || text === undefined) return undefined;
  const { state, stateAt, tool, scope, resource } = record;
  // A new record has no lease to keep.
  const forMs = lease === undefined || (lease < 0 && expect === 0) ? null : `${lease}`;
  const values = [key, forMs, `${phase}`, `${stateAt}`, state.tag];
  const [row] =
    expect === 0
      ? await session.run(first, [...values, tenant, id, tool, scope, resource ?? null, text])
      : await session.run(next, [...values, text, `${expect}`]);
  if (!row) return undefined;
  const [done, version = null, until = null, time, current = null] = row;
  if (done !== "y") return no(asked, [key, version, until, current], Number(time));
  // The clock went on since the lease was set.
  const isSet = until !== null && lease !== undefined && lease >= 0;
  const now = isSet ? Number(until) - lease : Number(time);
  return yes(asked, until === null ? [String(version)] : [String(version), until], now);
}

/** One row for all that was done, and one for what stands in place of each of the others. */
function answersIn(asked: readonly Asked[], rows: readonly Row[]): ReadonlyMap<string, Answer> {
  const [[, done, , , , , time] = [], ...others] = rows;
  const now = Number(time);
  const written = new Map<string | undefined, readonly string[]>();
  for (const one of done ? done.split(",") : []) {
    const [key, ...numbers] = one.split(" ");
    written.set(key, numbers);
  }
  const found = new Map(others.map((row) => [row[0], row]));
  return new Map(
    asked.map((one) => {
      const numbers = written.get(one.key);
      const answer = numbers ? yes(one, numbers, now) : no(one, found.get(one.key) ?? [], now);
      return [one.key, answer];
    }),
  );
}

function yes({ change }: Asked, [version, lease]: readonly string[], now: number): Swapped {
  const sequence = Number(version);
  const leaseUntil = leaseIn(lease);
  return { ok: true, version: change.record ? sequence : 0, leaseUntil, now, sequence };
}

function no({ change, lane }: Asked, row: Row, now: number): Answer {
  const [, version, lease, text, laneVersion, laneText] = row;
  const { tenant, id, expect } = change;
  const current =
    typeof version === "string" && typeof text === "string"
      ? storedIn(tenant, id, version, lease, text)
      : undefined;
  if ((current?.version ?? 0) !== expect) return { ok: false, current, now };
  if (lane && Number(laneVersion ?? 0) !== lane.expect) {
    return { ok: false, current, lane: laneIn(laneVersion, laneText), now };
  }
  return "busy";
}
