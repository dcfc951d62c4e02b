/**
 * Outcomes over time as stacked bars, drawn by uPlot in the colours of the page; and the same as a table.
 *
 * @module
 */

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Health, StateTag } from "../../model.ts";
import { named, timeOf } from "../words.ts";

/** From the bottom up. */
const SHOWN = ["committed", "not_applied", "denied", "unknown", "held", "claimed"] as const;
const HEIGHT = 220;

export function OutcomesChart({ health }: { readonly health: Health }) {
  const place = useRef<HTMLDivElement>(null);
  const { at, series } = health.outcomes;
  const there = SHOWN.filter((status) => series[status].some((n) => n > 0));
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const draw = () => chartIn(element, health, there);
    let chart = draw();
    const again = () => {
      chart.destroy();
      chart = draw();
    };
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", again);
    const sized = new ResizeObserver(() =>
      chart.setSize({ width: Math.max(200, element.clientWidth), height: HEIGHT }),
    );
    sized.observe(element);
    return () => {
      dark.removeEventListener("change", again);
      sized.disconnect();
      chart.destroy();
    };
  }, [health]);
  return (
    <figure>
      <div
        ref={place}
        role="img"
        aria-label="Outcomes over time; the table below has the numbers."
      />
      <ul class="legend">
        {there.map((status) => (
          <li key={status}>
            <span class={`dot ${status}`} /> {named(status)}
          </li>
        ))}
      </ul>
      <details>
        <summary>As a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">From</th>
              {there.map((status) => (
                <th key={status} scope="col">
                  {named(status)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {at.map(
              (from, bar) =>
                there.some((status) => series[status][bar]) && (
                  <tr key={from}>
                    <td>{timeOf(from)}</td>
                    {there.map((status) => (
                      <td key={status} class="number">
                        {series[status][bar]}
                      </td>
                    ))}
                  </tr>
                ),
            )}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

function chartIn(element: HTMLElement, { outcomes }: Health, there: readonly StateTag[]): uPlot {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const { at, series } = outcomes;
  // Each is drawn from zero to the sum of those up to it: the last one first, so that the others lie over it.
  const sums = there.map((_, upTo) =>
    at.map((_, bar) =>
      there.slice(0, upTo + 1).reduce((sum, status) => sum + (series[status][bar] ?? 0), 0),
    ),
  );
  const bars = uPlot.paths.bars?.({ size: [0.85, 40], align: 1 });
  const line = (status: StateTag) => ({
    label: status,
    fill: colour(`chart-${status}`),
    stroke: colour(`chart-${status}`),
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars }),
  });
  const axis = {
    stroke: colour("faint"),
    grid: { stroke: colour("line"), width: 1 },
    ticks: { show: false },
  };
  const times = at.map((ms) => ms / 1_000);
  const options: uPlot.Options = {
    width: Math.max(200, element.clientWidth),
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    // The last bar ends where the next one would begin.
    scales: {
      x: { range: [times[0] ?? 0, (times.at(-1) ?? 0) + (times[1] ?? 0) - (times[0] ?? 0)] },
      y: { range: (_, __, most) => [0, Math.max(1, most)] },
    },
    axes: [
      axis,
      { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 1e4, 1e5, 1e6] },
    ],
    series: [{}, ...there.toReversed().map(line)],
  };
  return new uPlot(options, [times, ...sums.toReversed()], element);
}
