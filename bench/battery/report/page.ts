/**
 * One page in HTML, with everything in it: the picture, whose cells say on hovering what happened, the sums and the
 * set-up of each stack. No scripts, nothing loaded.
 *
 * @module
 */

import type { Matrix } from "./matrix.ts";
import { drawMatrix, escaped, seedsText } from "./picture.ts";
import { stacksOf, sumsOf, type Table } from "./tables.ts";

export function pageOf(matrix: Matrix): string {
  const { date, version, runtime, seeds, seconds, notBuilt } = matrix;
  const voids = matrix.cells
    .filter(({ verdict }) => verdict === "void")
    .map(({ fault, stack, toolClass, why }) => [fault, toolClass, stack, why ?? ""]);
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
${tableOf(sumsOf(matrix))}
<h2>The stacks</h2>
${tableOf(stacksOf(matrix))}
<h2>Not built</h2>
<ul>
${notBuilt.map((line) => `<li>${escaped(line)}</li>`).join("\n")}
</ul>
<h2>Void cells</h2>
${voids.length === 0 ? "<p>None.</p>" : tableOf({ head: ["Fault", "Service", "Stack", "Why"], rows: voids })}
</body>
</html>
`;
}

const tableOf = ({ head, rows }: Table): string =>
  `<table>\n${[lineOf("th", head), ...rows.map((row) => lineOf("td", row))].join("\n")}\n</table>`;

const lineOf = (tag: "th" | "td", values: readonly (string | number)[]): string =>
  `<tr>${values.map((value) => `<${tag}>${escaped(String(value))}</${tag}>`).join("")}</tr>`;
