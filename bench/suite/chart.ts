/**
 * Draws a group: a dot at the median of each series, a line from the lowest round to the highest, on a
 * logarithmic scale. Text stays text, on a ground of its own, and the
 * colours follow the reader's light or dark scheme.
 *
 * @module
 */

import { type Figures, shown, spreadOf } from "./figures.ts";
import type { Group } from "./groups.ts";

export interface ChartRow {
  readonly name: string;
  readonly values: readonly number[];
  /** The row that the chart is about. */
  readonly isOwn: boolean;
  readonly mark?: string | undefined;
}

export interface ChartSection {
  readonly title: string;
  readonly rows: readonly ChartRow[];
}

export interface Chart {
  readonly title: string;
  readonly unit: string;
  readonly sections: readonly ChartSection[];
}

const WIDTH = 760;
const ROW = 22;
const SECTION = 30;
const TOP = 56;
const BOTTOM = 18;
const RIGHT = 130;
/** The width of a character of a name, about. */
const CHARACTER = 7.4;

export const STYLE = `text { font: 13px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #24292f; }
.title { font-size: 16px; font-weight: 600; } .soft { fill: #57606a; font-size: 12px; } .own { font-weight: 600; }
.grid { stroke: #d0d7de; stroke-width: 1; } .row { stroke: #57606a; stroke-width: 2; } .dot { fill: #57606a; }
.row.own { stroke: #0969da; } .dot.own { fill: #0969da; } .fault { fill: #cf222e; } .card { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .soft { fill: #9198a1; } .grid { stroke: #3d444d; } .row { stroke: #9198a1; } .dot { fill: #9198a1; }
.row.own { stroke: #4493f8; } .dot.own { fill: #4493f8; } .fault { fill: #f85149; } .card { fill: #0d1117; }
}`;

export const escaped = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");

/** The powers of ten around all values, or of the one half decade where they lie close together. */
function scaleOf(
  values: readonly number[],
  left: number,
): {
  readonly ticks: readonly number[];
  readonly x: (value: number) => number;
} {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(Math.ceil(Math.log10(Math.max(...values))), low + 1);
  const decades = Array.from({ length: high - low + 1 }, (_, at) => 10 ** (low + at));
  const between = high - low <= 2 ? [2, 5] : [];
  const ticks = decades
    .flatMap((decade) => [decade, ...between.map((factor) => factor * decade)])
    .filter((tick) => tick <= 10 ** high);
  const x = (value: number): number =>
    left + ((Math.log10(value) - low) / (high - low)) * (WIDTH - left - RIGHT);
  return { ticks, x };
}

export function drawChart({ title, unit, sections }: Chart): string {
  const values = sections.flatMap(({ rows }) => rows.flatMap((row) => row.values));
  const names = sections.flatMap(({ rows }) => rows.map(({ name }) => name.length));
  const left = Math.ceil(Math.max(14, ...names) * CHARACTER) + 28;
  const { ticks, x } = scaleOf(
    values.filter((value) => value > 0),
    left,
  );
  const at = (value: number): string => x(value).toFixed(1);
  const parts: string[] = [];
  let y = TOP;
  for (const section of sections) {
    if (section.title !== "") {
      y += SECTION;
      parts.push(`<text class="own" x="16" y="${y - 8}">${escaped(section.title)}</text>`);
    }
    for (const { name, values: rounds, isOwn, mark } of section.rows) {
      const spread = spreadOf(rounds.filter((value) => value > 0));
      const middle = y + ROW / 2;
      const own = isOwn ? " own" : "";
      parts.push(
        `<text class="name${own}" x="${left - 12}" y="${middle + 4}" text-anchor="end">${escaped(name)}</text>`,
      );
      if (spread) {
        const { median, low, high } = spread;
        const told = mark === undefined ? "" : ` <tspan class="fault">${escaped(mark)}</tspan>`;
        parts.push(
          `<line class="row${own}" x1="${at(low)}" x2="${at(high)}" y1="${middle}" y2="${middle}"/>`,
          `<circle class="dot${own}" cx="${at(median)}" cy="${middle}" r="5"/>`,
          `<text class="value${own}" x="${WIDTH - RIGHT + 14}" y="${middle + 4}">${shown(median)}${told}</text>`,
        );
      }
      y += ROW;
    }
  }
  const height = y + BOTTOM;
  const grid = ticks.map(
    (tick) =>
      `<line class="grid" x1="${at(tick)}" x2="${at(tick)}" y1="${TOP}" y2="${y + 4}"/>` +
      `<text class="soft" x="${at(tick)}" y="${TOP - 6}" text-anchor="middle">${tickText(tick)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>${escaped(title)}</title>
<style>
${STYLE}
</style>
<rect class="card" width="${WIDTH}" height="${height}" rx="6"/>
<text class="title" x="16" y="24">${escaped(title)}</text><text class="soft" x="${WIDTH - 16}" y="24" text-anchor="end">${escaped(unit)}</text>
${[...grid, ...parts].join("\n")}
</svg>
`;
}

const tickText = (tick: number): string =>
  tick >= 1e6
    ? `${tick / 1e6} M`
    : tick >= 1e3
      ? `${tick / 1e3} k`
      : `${tick >= 1 ? tick : Number(tick.toPrecision(1))}`;

/** Where all rows are holdfire's own, those that are compared with the first. */
const isGrown = (name: string, { compared }: Group): boolean =>
  compared?.as === "row_by_base" && name !== compared.base && !name.startsWith("floor");

/** The first column of a group, by the points at which it was measured. `undefined` if nothing was. */
export function chartOf(group: Group, { series }: Figures): Chart | undefined {
  const { measure, head } = group.columns[0];
  const own = series.filter((one) => one.group === group.name && one.rounds[measure]?.length);
  if (own.length === 0) return undefined;
  const points = [...new Set(own.map(({ at }) => at))];
  return {
    title: group.title,
    unit: `${head}, ${group.better === "more" ? "more" : "less"} is better`,
    sections: points.map((title) => ({
      title,
      rows: own
        .filter(({ at }) => at === title)
        .map(({ name, rounds, fault }) => ({
          name,
          values: rounds[measure] ?? [],
          isOwn: name.startsWith("holdfire") || isGrown(name, group),
          mark: fault,
        })),
    })),
  };
}
