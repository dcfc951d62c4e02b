/**
 * Where points in time lie on a line of 100 parts. Pure.
 *
 * The gaps between points are drawn by a root of their length: a call of 20 milliseconds can be seen beside a wait of
 * a day.
 *
 * @module
 */

export interface Axis {
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

export function axisOf(times: readonly number[]): Axis {
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
