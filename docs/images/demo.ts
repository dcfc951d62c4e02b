/**
 * Draws `holdfire demo` as it is seen in a terminal: runs it, and writes what it prints to `demo.svg`.
 *
 *   npm run picture
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import { styleText } from "node:util";
import { PLAIN_ACTS } from "../../src/cli/demo/acts.ts";
import { INTRO, showDemo } from "../../src/cli/demo/command.ts";

const FILE = new URL("demo.svg", import.meta.url);

/** What the demo prints on a terminal with colours. */
export async function demoLines(): Promise<readonly string[]> {
  const lines = ["$ npx holdfire demo"];
  const asPromised = await showDemo(INTRO, PLAIN_ACTS, {
    out: (line) => void lines.push(line),
    paint: (style, text) => styleText(style, text, { validateStream: false }),
    pause: async () => {},
  });
  if (!asPromised) throw new Error("The demo did not end as promised, so it is not drawn.");
  return lines;
}

/** The styles that the demo uses, by the number that switches them on; 22 and 39 switch them off. */
const STYLES: Readonly<Record<string, string>> = {
  1: "bold",
  2: "dim",
  31: "red",
  32: "green",
  33: "yellow",
  36: "cyan",
};

const HEIGHT = 20;
const WIDTH = 7.85;
const MARGIN = 20;
const TOP = 44;

/** Lines as a terminal gets them, with escape sequences for colours, as a picture. */
export function drawTerminal(lines: readonly string[], title: string): string {
  const longest = Math.max(...lines.map((line) => spansOf(line).reduce(lengthOf, 0)));
  const width = Math.ceil(longest * WIDTH) + 2 * MARGIN;
  const height = lines.length * HEIGHT + TOP + MARGIN;
  const drawn = lines.map((line, at) => {
    const spans = spansOf(line).map(({ style, text }) =>
      style ? `<tspan class="${style}">${escaped(text)}</tspan>` : escaped(text),
    );
    return `<text x="${MARGIN}" y="${TOP + 14 + at * HEIGHT}">${spans.join("")}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" xml:space="preserve">
<title>${escaped(title)}</title>
<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #c9d1d9; white-space: pre; }
.bold { font-weight: bold; fill: #f0f6fc; } .dim { fill: #8b949e; } .red { fill: #ff7b72; } .green { fill: #56d364; } .yellow { fill: #e3b341; } .cyan { fill: #76e3ea; }
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<circle cx="22" cy="20" r="6" fill="#ff5f56"/><circle cx="42" cy="20" r="6" fill="#ffbd2e"/><circle cx="62" cy="20" r="6" fill="#27c93f"/>
${drawn.join("\n")}
</svg>
`;
}

interface Span {
  readonly style: string | undefined;
  readonly text: string;
}

/** No style is inside another in the demo: the last one that was switched on counts. */
function spansOf(line: string): readonly Span[] {
  const spans: Span[] = [];
  let style: string | undefined;
  for (const [at, part] of line.split("\u001b[").entries()) {
    // All parts but the first begin with the number of an escape sequence, and an m.
    const end = at === 0 ? 0 : part.indexOf("m") + 1;
    if (at > 0) style = STYLES[part.slice(0, end - 1)];
    if (part.length > end) spans.push({ style, text: part.slice(end) });
  }
  return spans;
}

const lengthOf = (sum: number, { text }: Span): number => sum + text.length;

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

if (import.meta.main) {
  const title =
    "What npx holdfire demo prints: two payouts by a loop, one with holdfire, one that waits for a person";
  writeFileSync(FILE, drawTerminal(await demoLines(), title));
}
