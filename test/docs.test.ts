/** Whatever the docs claim is checked: examples compile, reasons exist. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import * as allErrors from "../src/errors.ts";
import { HoldfireError } from "../src/errors.ts";
import { anchorsOf, namesOf, PAGES, programsOf, textOf } from "./pages.ts";

/** The reader's own service, which the examples do not explain. */
const PRELUDE = `
interface Payout { readonly id: string; readonly payee: string; readonly cents: number }
interface SendOptions { readonly idempotencyKey?: string; readonly signal?: AbortSignal }
declare const bank: {
  pay(
    payout: { readonly payee: string; readonly cents: number; readonly reference?: string },
    options?: SendOptions,
  ): Promise<Payout>;
  find(query: { readonly reference: string }, options?: SendOptions): Promise<Payout[]>;
  refund(
    refund: { readonly paymentId: string; readonly cents: number; readonly comment: string },
    options?: SendOptions,
  ): Promise<{ readonly id: string }>;
};
`;

test("every example compiles against the sources", () => {
  const folder = resolve("node_modules/.cache/holdfire-docs");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);

  const paths = Object.entries(manifest.exports).flatMap(([subpath, entry]) => {
    if (typeof entry === "string") return [];
    const source = entry.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
    return [[join("holdfire", subpath), [relative(folder, resolve(source))]]];
  });
  const compilerOptions = {
    paths: Object.fromEntries(paths),
    noUnusedLocals: false,
    isolatedDeclarations: false,
    declaration: false,
  };
  const config = { extends: relative(folder, resolve("tsconfig.json")), compilerOptions };
  const include = ["*.ts", "*/*.ts", "*/*.mts"];
  write("tsconfig.json", JSON.stringify({ ...config, include, exclude: [] }));
  write("package.json", '{ "type": "module" }');
  write("prelude.d.ts", PRELUDE);
  let written = 0;
  for (const page of PAGES) {
    const of = page.replaceAll("/", "-");
    mkdirSync(join(folder, of));
    const named = namesOf(page);
    for (const [index, program] of programsOf(page).entries()) {
      write(join(of, named[index] ?? `${index + 1}.ts`), `${program}\nexport {};\n`);
      written += 1;
    }
  }
  expect(written).toBeGreaterThan(5);

  const tsc = spawnSync("node_modules/.bin/tsc", ["-p", folder], { encoding: "utf8" });
  expect(tsc.stdout).toBe("");
  expect(tsc.status).toBe(0);
}, 120_000);

test("the demo ends as it should: two payouts, one, and one that is held", () => {
  const { FORCE_COLOR: _, ...env } = process.env;
  const output = execFileSync(process.execPath, ["examples/demo.ts"], { encoding: "utf8", env });
  expect(output.match(/payouts: \d/g)).toEqual(["payouts: 2", "payouts: 1", "payouts: 1"]);
  expect(output).toContain("unknown (unclear_answer), held");
  expect(output).toContain("asked: Did payments#pay_out_by_fax");
  // A pipe gets plain lines.
  expect(output).not.toContain("\u001b");
});

test.each(PAGES)("%s names only scripts that exist", (page) => {
  const named = [...textOf(page).matchAll(/\bnpm run ([\w:]+)/g)].map(([, script = ""]) => script);
  expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(named));
});

describe("docs/errors.md", () => {
  const page = textOf("docs/errors.md");
  const errors = textOf("src/errors.ts");
  const reasons = textOf("src/reasons.ts");

  /** The literals of a union type in `reasons.ts`, its comments left out. */
  const literalsOf = (type: string): string[] => {
    const union = new RegExp(`^export type ${type} =([^;]*);`, "m").exec(reasons)?.[1] ?? "";
    return [...union.replaceAll(/\/\/.*$/gm, "").matchAll(/"([^"]+)"/g)].map(
      ([, text = ""]) => text,
    );
  };
  /** The first cells of the table below a heading, without those of its head. */
  const rowsOf = (heading: string): string[] => {
    const part = page.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
    return [...part.matchAll(/^\| `([^`]+)`/gm)].map(([, name = ""]) => name).slice(1);
  };

  test("has the place that each error's message points to", () => {
    const classes = Object.values(allErrors).filter(
      (value) => value.prototype instanceof HoldfireError,
    ) as unknown as (new (
      ...facts: unknown[]
    ) => HoldfireError)[];
    const operation = { tool: "pay_out", id: "id", key: "key" };
    const anchors = classes.map((Class) => {
      const { message } = new Class(operation, "reason", "more");
      return (
        / See node_modules\/holdfire\/docs\/errors\.md#([a-z-]+)$/.exec(message)?.[1] ??
        `none in: ${message}`
      );
    });
    expect(new Set(anchors).size).toBe(classes.length);
    expect(anchors.filter((anchor) => !anchorsOf("docs/errors.md").includes(anchor))).toEqual([]);
  });

  test("names every error and its code", () => {
    const names = [...errors.matchAll(/^export class (\w+)/gm)].map(([, name = ""]) => name);
    const codes = [...errors.matchAll(/code = "(\w+)"/g)].map(([, code = ""]) => code);
    expect(names).toHaveLength(codes.length);
    expect([...names, ...codes].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test("explains every reason of an unknown outcome, and no other", () => {
    expect(rowsOf("Outcome unknown").sort()).toEqual(literalsOf("UnknownReason").sort());
  });

  test("explains every reason why nothing was applied, and no other", () => {
    expect(rowsOf("Not applied").sort()).toEqual(literalsOf("NotAppliedReason").sort());
  });
});
