/**
 * The timeline as a picture: a row for the operation, one for each attempt, one for people and one for late replies, on
 * one time axis. Long waits are drawn shorter than they were, so that milliseconds and days fit on one line.
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import type { AttemptBar, OperationDetail } from "../../model.ts";
import { countOf, GLOSSARY, lengthOf, timeOf } from "../words.ts";
import { Term } from "./text.tsx";

export function Picture({ detail }: { readonly detail: OperationDetail }) {
  const { operation, attempts, timeline } = detail;
  const ends = attempts.flatMap(({ to }) => (to === undefined ? [] : [to]));
  const axis = axisOf([...timeline.map(({ at }) => at), ...ends]);
  const people = timeline.filter(({ kind }) => kind === "answer");
  const late = timeline.filter(({ kind }) => kind === "evidence");
  const label = `${countOf(attempts.length, "attempt")} over ${lengthOf(axis.last - axis.first)}; the list below says the same in words.`;
  return (
    <figure class="picture" aria-label={label}>
      <Row name="operation">
        <span
          class={`bar life ${operation.status}`}
          style={spanOf(axis, operation.createdAt, operation.at)}
          title={`from ${timeOf(operation.createdAt)} to ${timeOf(operation.at)}`}
        />
      </Row>
      {attempts.map((attempt) => (
        <Row key={attempt.n} name={`attempt ${attempt.n}`}>
          <Bar axis={axis} attempt={attempt} />
        </Row>
      ))}
      {people.length > 0 && <Marks name="people" kind="answer" axis={axis} moments={people} />}
      {late.length > 0 && <Marks name="late replies" kind="late" axis={axis} moments={late} />}
      <Row name="">
        {axis.ticks.map((at) => (
          <Tick key={at} at={at} axis={axis} />
        ))}
      </Row>
      <figcaption class="reason">
        <Term hint={GLOSSARY.licence}>Licences</Term> stand below the bars. Hatched: its end was not
        seen. {axis.isBent && "Long waits are drawn shorter."}
      </figcaption>
    </figure>
  );
}

/** At the end of the axis its label stands before it, or it would leave the picture. */
function Tick({ at, axis }: { readonly at: number; readonly axis: Axis }) {
  const place = axis.place(at);
  const isEnd = place > 85;
  return (
    <span
      class={isEnd ? "tick-mark end" : "tick-mark"}
      style={isEnd ? { right: `${100 - place}%` } : { left: `${place}%` }}
    >
      {at === axis.first ? "0" : `+${lengthOf(at - axis.first)}`}
    </span>
  );
}

const Row = ({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}) => (
  <div class="row">
    <span class="row-name">{name}</span>
    <div class="track">{children}</div>
  </div>
);

function Bar({ axis, attempt }: { readonly axis: Axis; readonly attempt: AttemptBar }) {
  const { from, to = axis.last, licence, licenceWords, verdict, status, requests, claim } = attempt;
  const facts = [
    licence === "first" ? "first send" : licence,
    status !== undefined && `status ${status}`,
    requests !== undefined && requests > 0 && countOf(requests, "request"),
    claim > 1 && `claim ${claim}`,
  ].filter(Boolean);
  const style = spanOf(axis, from, to);
  const isRight = axis.place(from) > 50;
  return (
    <>
      <span
        class={`bar ${verdict ?? "running"}${attempt.endUnseen ? " unseen" : ""}`}
        style={style}
        title={`${licenceWords}; ${lengthOf(to - from)}; ${verdict ?? "not ended"}`}
      />
      <span
        class={`bar-text${isRight ? " right" : ""}`}
        style={isRight ? { right: `${100 - axis.place(to)}%` } : { left: `${axis.place(from)}%` }}
      >
        {verdict?.replaceAll("_", " ") ?? "not ended"}: {facts.join(", ")}
      </span>
    </>
  );
}

function spanOf(axis: Axis, from: number, to: number) {
  const [left, right] = [axis.place(from), axis.place(Math.max(from, to))];
  return { left: `${left}%`, width: `max(4px, ${right - left}%)` };
}

interface MarksProps {
  readonly name: string;
  readonly kind: string;
  readonly axis: Axis;
  readonly moments: OperationDetail["timeline"];
}

const Marks = ({ name, kind, axis, moments }: MarksProps) => (
  <Row name={name}>
    {moments.map(({ at, what }) => (
      <span key={what} class={`mark ${kind}`} style={{ left: `${axis.place(at)}%` }} title={what} />
    ))}
  </Row>
);

/** Where points in time lie on a line of 100 parts. */
interface Axis {
  readonly first: number;
  readonly last: number;
  /** From 0 to 100. */
  place(at: number): number;
  /** Points to be labelled, far enough apart. */
  readonly ticks: readonly number[];
  /** Lengths are not in proportion. */
  readonly isBent: boolean;
}

const ROOT = 0.3;
/** The longest gap is so many times the shortest before they are bent. */
const STRAIGHT_UP_TO = 20;
const APART = 22;

/** Gaps are drawn by a root of their length: a call of 20 milliseconds can be seen beside a wait of a day. */
function axisOf(times: readonly number[]): Axis {
  const points = [...new Set(times)].sort((one, other) => one - other);
  const first = points[0] ?? 0;
  const last = points.at(-1) ?? first;
  const gaps = points.slice(1).map((point, at) => point - (points[at] ?? point));
  const isBent = Math.max(...gaps, 0) > STRAIGHT_UP_TO * Math.min(...gaps, Infinity);
  const drawn = gaps.map((gap) => (isBent ? gap ** ROOT : gap));
  const whole = drawn.reduce((sum, gap) => sum + gap, 0) || 1;
  const places = [0];
  for (const gap of drawn) places.push((places.at(-1) ?? 0) + (100 * gap) / whole);

  function place(at: number): number {
    const after = points.findIndex((point) => point >= at);
    if (after === 0 || points.length === 0) return 0;
    if (after < 0) return 100;
    const [from, to] = [points[after - 1] ?? first, points[after] ?? last];
    const [left, right] = [places[after - 1] ?? 0, places[after] ?? 100];
    return left + ((at - from) / (to - from)) * (right - left);
  }

  const ticks: number[] = [];
  for (const point of points) {
    const before = ticks.at(-1);
    if (before === undefined || place(point) - place(before) >= APART) ticks.push(point);
  }
  return { first, last, place, ticks, isBent };
}
