/** Every link of the pages leads somewhere, every page can be found, and every subpath is named. */
import { existsSync, globSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { anchorsOf, linksOf, PAGES, proseOf, REFERENCE } from "./pages.ts";

const isOurs = (link: string): boolean => !/^https?:/.test(link);

const isBroken = (page: string, link: string): boolean => {
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : join(dirname(page), path);
  return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
};

test.each([...PAGES, ...REFERENCE])("%s links to what is there", (page) => {
  const broken = linksOf(page).filter((link) => isOurs(link) && isBroken(page, link));
  expect(broken).toEqual([]);
});

test("the check finds a link to nowhere, and one to a heading that is not there", () => {
  expect(isBroken("README.md", "docs/nowhere.md")).toBe(true);
  expect(isBroken("README.md", "docs/errors.md#nowhere")).toBe(true);
  expect(isBroken("README.md", "docs/errors.md#denied")).toBe(false);
});

test("every page and picture of docs is linked from another page", () => {
  const linked = new Set(
    [...PAGES, ...REFERENCE].flatMap((page) =>
      linksOf(page)
        .filter(isOurs)
        .map((link) => join(dirname(page), link.split("#")[0] ?? "")),
    ),
  );
  const files = globSync("docs/**/*.{md,svg}");
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((file) => !linked.has(file))).toEqual([]);
});

test("the index of docs names every page beside it", () => {
  const named = new Set(linksOf("docs/README.md"));
  const pages = globSync("docs/*.md").map((page) => basename(page));
  expect(pages.filter((page) => page !== "README.md" && !named.has(page))).toEqual([]);
});

describe("the README's tables", () => {
  const subpaths = Object.keys(manifest.exports)
    .map((subpath) => subpath.replace(/^\.\/?/, ""))
    .filter((subpath) => subpath !== "" && subpath !== "package.json");
  const rows = proseOf("README.md")
    .split("\n")
    .filter((line) => line.startsWith("|"));
  const named = rows.flatMap((row) =>
    [...row.matchAll(/`(?:holdfire)?\/([\w-]+)`/g)].map(([, subpath = ""]) => subpath),
  );

  test("name every subpath of the package, and no other", () => {
    expect([...named].sort()).toEqual([...subpaths].sort());
  });
});
