/**
 * Draws a simulated outage: the requests that reach the provider in each second, and below them the calls
 * that wait for the hot lane.
 *
 * @module
 */

import { escaped, STYLE } from "../suite/chart.ts";
import { shown } from "../suite/figures.ts";
import type { Scenario, Second, Simulated } from "./simulate.ts";

const [WIDTH, LEFT, RIGHT, HEIGHT, TOP, GAP, LEGEND] = [760, 64, 24, 170, 98, 62, 56];

interface Panel {
  readonly title: string;
  readonly of: (second: Second) => number;
}

const PANELS: readonly Panel[] = [
  { title: "requests a second at the provider", of: ({ first, resent }) => first + resent },
  { title: "calls that wait for the hot lane", of: ({ hotWaiting }) => hotWaiting },
  { title: "operations that are unknown", of: ({ unknown }) => unknown },
];

const CLASSES = ["loop", "plain", "own"];

/** A round number at or above the highest value. */
export function ceilingOf(value: number): number {
  const decade = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return (
    [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]
      .map((factor) => factor * decade)
      .find((top) => top >= value) ?? value
  );
}

export function drawOutage(
  { seconds: length, outage }: Scenario,
  runs: readonly Simulated[],
): string {
  const x = (second: number): string =>
    (LEFT + (second / length) * (WIDTH - LEFT - RIGHT)).toFixed(1);
  const panels = PANELS.map(({ title, of }, index) => {
    const top = TOP + index * (HEIGHT + GAP);
    const highest = ceilingOf(Math.max(...runs.flatMap(({ seconds }) => seconds.map(of))));
    const y = (value: number): string => (top + HEIGHT - (value / highest) * HEIGHT).toFixed(1);
    const lines = runs.map(({ seconds }, at) => {
      const points = seconds.map((second, n) => `${x(n)},${y(of(second))}`).join(" ");
      return `<polyline class="line ${CLASSES[at]}" points="${points}"/>`;
    });
    const steps = [0, 0.5, 1].map((share) => share * highest);
    const grid = steps.map(
      (value) =>
        `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}"/>` +
        `<text class="soft" x="${LEFT - 8}" y="${Number(y(value)) + 4}" text-anchor="end">${shown(value)}</text>`,
    );
    return `<rect class="outage" x="${x(outage.from)}" y="${top}" width="${(Number(x(outage.to)) - Number(x(outage.from))).toFixed(1)}" height="${HEIGHT}"/>
<text x="${LEFT}" y="${top - 10}">${escaped(title)}</text>
${[...grid, ...lines].join("\n")}`;
  });
  const bottom = TOP + PANELS.length * (HEIGHT + GAP) - GAP;
  const times = Array.from({ length: Math.floor(length / 30) + 1 }, (_, at) => at * 30).map(
    (second) =>
      `<text class="soft" x="${x(second)}" y="${bottom + 18}" text-anchor="middle">${second} s</text>`,
  );
  const legend = runs.map(({ policy }, at) => {
    const left = LEFT + at * 200;
    return (
      `<line class="line ${CLASSES[at]}" x1="${left}" x2="${left + 24}" y1="${LEGEND - 4}" y2="${LEGEND - 4}"/>` +
      `<text x="${left + 32}" y="${LEGEND}">${escaped(policy)}</text>`
    );
  });
  const height = bottom + 34;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>A provider is down from ${outage.from} s to ${outage.to} s</title>
<style>
${STYLE}
.line { fill: none; stroke-width: 2; stroke-linejoin: round; } .loop { stroke: #bc4c00; } .plain { stroke: #8250df; } .line.own { stroke: #0969da; } .outage { fill: #cf222e; fill-opacity: 0.09; }
@media (prefers-color-scheme: dark) { .loop { stroke: #f0883e; } .plain { stroke: #ab7df8; } .line.own { stroke: #4493f8; } .outage { fill: #f85149; fill-opacity: 0.14; } }
</style>
<rect class="card" width="${WIDTH}" height="${height}" rx="6"/>
<text class="title" x="16" y="24">A provider is down from ${outage.from} s to ${outage.to} s</text>
${[...legend, ...panels, ...times].join("\n")}
</svg>
`;
}
