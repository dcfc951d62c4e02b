/** The charts of `npm run bench`: what is larger is farther right, text is text, and the page keeps what is written by hand. */
import { describe, expect, test } from "vitest";
import { ceilingOf, drawOutage } from "../../bench/outage/draw.ts";
import { HOLDFIRE_POLICY } from "../../bench/outage/policies.ts";
import { SCENARIO, simulate } from "../../bench/outage/simulate.ts";
import { type Chart, chartOf, drawChart } from "../../bench/suite/chart.ts";
import { groupOf } from "../../bench/suite/groups.ts";
import { filled } from "../../bench/suite/page.ts";

const row = (name: string, ...values: readonly number[]) => ({ name, values, isOwn: false });
const chart = (rows: Chart["sections"][number]["rows"]): Chart => ({
  ...{ title: "Calls <a> & b", unit: "calls/s", sections: [{ title: "1 caller", rows }] },
});
const dotsOf = (svg: string): number[] =>
  [...svg.matchAll(/<circle [^>]*cx="([\d.]+)"/g)].map(([, x]) => Number(x));

describe("a chart", () => {
  test("puts what is ten times larger the same step farther right each time", () => {
    const [first = 0, second = 0, third = 0] = dotsOf(
      drawChart(chart([row("a", 10), row("b", 100), row("c", 1_000)])),
    );
    expect(second - first).toBeGreaterThan(20);
    expect(third - second).toBeCloseTo(second - first, 0);
  });

  test("keeps every dot and line within the picture, whatever the values", () => {
    const svg = drawChart(chart([row("a", 0.002, 5), row("b", 7e6), row("c", 0)]));
    const places = [...svg.matchAll(/(?:x1|x2|cx)="([-\d.]+)"/g)].map(([, x]) => Number(x));
    expect(places.length).toBeGreaterThan(4);
    expect(places.every((x) => x >= 0 && x <= 760)).toBe(true);
  });

  test("is well-formed, follows the reader's scheme, and marks a fault", () => {
    const svg = drawChart(chart([{ ...row("a <b>", 10), mark: "2 ran TWICE" }]));
    expect(svg).toContain("Calls &lt;a&gt; &amp; b");
    expect(svg).toContain("a &lt;b&gt;");
    expect(svg).toContain("prefers-color-scheme: dark");
    expect(svg).toContain(`<tspan class="fault">2 ran TWICE</tspan>`);
  });

  test("is drawn for a group by its points, and not where nothing was measured", () => {
    const group = groupOf("redis");
    if (!group) throw new Error("The group is there.");
    const series = ["1 caller", "10 callers"].map((at) => ({
      ...{ group: "redis", name: "holdfire", at, rounds: { perSecond: [5] } },
    }));
    const drawn = chartOf(group, { series, notRun: [] });
    expect(drawn?.sections.map(({ title }) => title)).toEqual(["1 caller", "10 callers"]);
    expect(drawn?.sections[0]?.rows[0]?.isOwn).toBe(true);
    expect(chartOf(group, { series: [], notRun: [] })).toBeUndefined();
  });

  test("of an outage has a line for each run in each panel, under a round number", () => {
    const small = { ...SCENARIO, seconds: 6, outage: { from: 2, to: 4 }, callsPerSecond: 20 };
    const run = simulate(small, HOLDFIRE_POLICY);
    const svg = drawOutage(small, [run, run]);
    expect(svg.match(/<polyline /g)).toHaveLength(6);
    expect([0, 1, 11, 190, 2_042].map(ceilingOf)).toEqual([1, 1, 12, 200, 2_500]);
  });
});

describe("the page", () => {
  const page = "# Title\n\n<!-- bench: goals -->\nold\n<!-- /bench -->\n\nBy hand.\n";

  test("is filled between its marks, and kept elsewhere", () => {
    const once = filled(page, new Map([["goals", "new"]]));
    expect(once).toBe("# Title\n\n<!-- bench: goals -->\n\nnew\n\n<!-- /bench -->\n\nBy hand.\n");
    expect(filled(once, new Map([["goals", "new"]]))).toBe(once);
  });

  test("that has no place for a block is not written", () => {
    expect(() => filled(page, new Map([["memory", "new"]]))).toThrow("no place for: memory");
  });
});
