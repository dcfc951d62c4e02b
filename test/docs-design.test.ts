/** The design pages name tests and source files: each of them exists, under exactly that title. */
import { existsSync, globSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { textOf } from "./pages.ts";

const PAGES = globSync("docs/design/*.md").sort();
const PAGES_WITH_TESTS = ["docs/design/invariants.md", "docs/design/traps.md"];

interface NamedTest {
  readonly file: string;
  readonly title: string;
}

/** Lines of the form: - `test/some.test.ts`: the title of the test */
const testsNamedIn = (page: string): readonly NamedTest[] =>
  [...textOf(page).matchAll(/^- `((?:test|src\/testing)\/[\w./-]+\.ts)`: (.+)$/gm)].map(
    ([, file = "", title = ""]) => ({ file, title }),
  );

/** Whether the file registers a test with this title, as a literal first argument. */
function hasTest({ file, title }: NamedTest): boolean {
  if (!existsSync(file)) return false;
  const code = textOf(file);
  return ['"', "'", "`"].some((quote) => {
    const literal = `${quote}${title}${quote},`;
    for (let at = code.indexOf(literal); at >= 0; at = code.indexOf(literal, at + 1)) {
      if (/\(\s*$/.test(code.slice(0, at))) return true;
    }
    return false;
  });
}

const said = ({ file, title }: NamedTest): string => `${file}: ${title}`;

describe.each(PAGES_WITH_TESTS)("%s", (page) => {
  test("names only tests that exist", () => {
    const named = testsNamedIn(page);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((one) => !hasTest(one)).map(said)).toEqual([]);
  });

  test("names no test in a form that is not checked", () => {
    const lines = textOf(page).match(/^- `(?:test|src)\/.*$/gm) ?? [];
    expect(lines).toHaveLength(testsNamedIn(page).length);
  });

  test("has a test under every heading that makes a claim", () => {
    const sections = textOf(page)
      .split(/^(?=#{2,3} )/m)
      .slice(1);
    const bare = sections
      .filter((section) => !/^- `(?:test|src\/testing)\//m.test(section))
      .map((section) => section.split("\n", 1)[0]);
    const groups = ["## Writing", "## Ownership", "## Firing", "## Remembering"];
    expect(bare.filter((heading) => !groups.includes(heading ?? ""))).toEqual([]);
  });
});

test.each(PAGES)("%s names only files and folders that exist", (page) => {
  const named = [...textOf(page).matchAll(/`((?:src|test|bench)\/[\w./-]*)`/g)];
  const missing = named.map(([, path = ""]) => path).filter((path) => !existsSync(path));
  expect(missing).toEqual([]);
});

test("the check finds a test that is not there", () => {
  const file = "test/scenarios/traps.test.ts";
  const title = "the first request commits after the read, and nothing was sent in between";
  expect(hasTest({ file, title })).toBe(true);
  expect(hasTest({ file, title: title.slice(0, -1) })).toBe(false);
  expect(hasTest({ file: "test/scenarios/nowhere.test.ts", title })).toBe(false);
});
