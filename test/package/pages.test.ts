/** The pages as they are published: what they say to do works with the packed package, in an empty folder. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { linksOf } from "../pages.ts";
import { followPage } from "./follow-page.ts";
import { type Packed, packInto } from "./pack.ts";
import { runProgram } from "./run-program.ts";

let place: string;
let packed: Packed;
/** What `npm install holdfire` would make, in the place of which it is linked. */
let modules: string;
let installed: string;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "holdfire-pages-"));
  modules = join(place, "node_modules");
  installed = join(modules, "holdfire");
  const tree = join(place, "tree");
  for (const folder of [tree, installed, join(modules, ".bin")]) {
    mkdirSync(folder, { recursive: true });
  }
  packed = packInto(tree);
  runProgram("tar", ["-xzf", packed.tarball, "--strip-components=1"], installed);
  // As npm does with what `bin` names.
  symlinkSync("../holdfire/dist/cli/main.js", join(modules, ".bin", "holdfire"));
  chmodSync(join(installed, "dist", "cli", "main.js"), 0o755);
  for (const name of ["p-retry", "is-network-error", "uuid"]) {
    cpSync(join("node_modules", name), join(modules, name), { recursive: true });
  }
  // What the README's agent imports beside holdfire. A link is enough: their own dependencies are where it leads.
  mkdirSync(join(modules, "@ai-sdk"));
  for (const name of ["ai", "@ai-sdk/openai", "zod"]) {
    symlinkSync(resolve("node_modules", name), join(modules, name));
  }
}, 180_000);

afterAll(() => rmSync(place, { recursive: true, force: true }));

function follow(page: string) {
  const folder = mkdtempSync(join(place, "empty-"));
  return followPage(join(installed, page), folder, {
    "npm install holdfire": `ln -s ${modules} node_modules`,
  });
}

test("README.md: every command and every ts block does what the page shows", () => {
  const { commands, saved, ran, compared } = follow("README.md");
  expect(commands).toEqual(["npm install holdfire", "npx holdfire demo", "node pay.mts"]);
  expect(saved).toEqual(["pay.mts"]);
  expect(ran).toBe(2);
  expect(compared).toBe(1);
}, 180_000);

test("docs/1-getting-started.md: every command and every ts block does what the page shows", () => {
  const { commands, saved, ran, compared } = follow("docs/1-getting-started.md");
  // From an empty folder to a call that survived.
  expect(commands).toContain("npm install holdfire");
  expect(commands.length).toBeLessThan(10);
  expect(saved).toEqual(["tools.mts", "pay.mts"]);
  expect(ran).toBeGreaterThan(5);
  expect(compared).toBe(3);
}, 180_000);

test.each(["docs/errors-inside-run.md", "docs/events.md", "docs/troubleshooting.md"])(
  "%s: every ts block prints what the page shows",
  (page) => {
    const folder = mkdtempSync(join(place, "empty-"));
    symlinkSync(modules, join(folder, "node_modules"));
    expect(followPage(join(installed, page), folder, {}).ran).toBeGreaterThan(1);
  },
  180_000,
);

test("every link of a packed page leads to something that is packed", () => {
  const pages = packed.files.filter((path) => path.endsWith(".md"));
  expect(pages.length).toBeGreaterThan(40);
  const broken = pages.flatMap((page) =>
    linksOf(join(installed, page))
      // Screenshots are not packed: they would be most of the package.
      .filter((link) => !/^https?:/.test(link) && !link.startsWith("#") && !link.endsWith(".png"))
      .filter((link) => {
        const path = link.split("#")[0] ?? "";
        return !existsSync(resolve(dirname(join(installed, page)), path));
      })
      .map((link) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
});
