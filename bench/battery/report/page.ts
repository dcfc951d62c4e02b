/**
 * One page in HTML, with everything in it: the picture, whose cells say on hovering what happened, the sums and the
 * set-up of each stack. No scripts, nothing loaded.
 *
 * @module
 */

import type { Matrix } from "./matrix.ts";
import { drawMatrix, escaped, seedsText } from "./picture.ts";
import { totalsOf } from "./totals.ts";

export function pageOf(matrix: Matrix): string {
  const { date, version, runtime, seeds, seconds, columns, notBuilt } = matrix;
  const sums = totalsOf(matrix).map(({ column, score, attemptsPerEffect, medianMs, voids }) =>
    rowOf([
      column,
      score.duplicates,
      score.silentLosses,
      score.untrueWords,
      score.falseDedupes,
      score.wantedNotDone,
      score.leftUnknown,
      attemptsPerEffect.toFixed(2),
      medianMs,
      voids,
    ]),
  );
  const stacks = columns.map(({ name, says, versions }) =>
    rowOf([name, says, versions.join(", ")]),
  );
  const voids = matrix.cells
    .filter(({ verdict }) => verdict === "void")
    .map(({ fault, stack, toolClass, why }) => rowOf([fault, toolClass, stack, why ?? ""]));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>holdfire: the scorecard</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #1f2328; background: #fff; }
svg { max-width: 100%; height: auto; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { border: 1px solid #d1d9e0; padding: .25rem .6rem; text-align: left; vertical-align: top; }
</style>
</head>
<body>
<h1>The scorecard</h1>
<p>${date}, holdfire ${version}, ${runtime}, ${seedsText(seeds)}, ${seconds} seconds. Hover over a cell to see what happened in it.</p>
${drawMatrix(matrix, true)}
<h2>In all, without the liar</h2>
<table>
${headOf(["stack", "duplicates", "lost", "untrue words", "false dedupes", "not done", "left unknown", "arrivals an effect", "median ms to an answer", "void cells"])}
${sums.join("\n")}
</table>
<h2>The stacks</h2>
<table>
${headOf(["stack", "set up as", "versions"])}
${stacks.join("\n")}
</table>
<h2>Not built</h2>
<ul>
${notBuilt.map((line) => `<li>${escaped(line)}</li>`).join("\n")}
</ul>
<h2>Void cells</h2>
${voids.length === 0 ? "<p>None.</p>" : `<table>\n${headOf(["fault", "service", "stack", "why"])}\n${voids.join("\n")}\n</table>`}
</body>
</html>
`;
}

type Value = string | number;

const rowOf = (values: readonly Value[]): string =>
  `<tr>${values.map((value) => `<td>${escaped(String(value))}</td>`).join("")}</tr>`;

const headOf = (values: readonly Value[]): string =>
  `<tr>${values.map((value) => `<th>${escaped(String(value))}</th>`).join("")}</tr>`;
