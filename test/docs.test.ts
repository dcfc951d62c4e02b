/** Whatever the docs claim is checked: examples compile, the first one runs, reasons exist. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import manifest from "../package.json" with { type: "json" };
import * as allErrors from "../src/errors.ts";
import { HoldfireError } from "../src/errors.ts";
import { faults, startFaultyService } from "../src/testing/faulty-service.ts";
import { anchorsOf, PAGES, programsOf, textOf } from "./pages.ts";

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
  write("tsconfig.json", JSON.stringify({ ...config, include: ["*.ts"], exclude: [] }));
  write("package.json", '{ "type": "module" }');
  write("prelude.d.ts", PRELUDE);
  let written = 0;
  for (const page of PAGES) {
    for (const [index, program] of programsOf(page).entries()) {
      write(`${basename(page, ".md")}-${index + 1}.ts`, `${program}\nexport {};\n`);
      written += 1;
    }
  }
  expect(written).toBeGreaterThan(5);

  const tsc = spawnSync("node_modules/.bin/tsc", ["-p", folder], { encoding: "utf8" });
  expect(tsc.stdout).toBe("");
  expect(tsc.status).toBe(0);
});

test("the README's example gives what it says, with one request and one payout", async () => {
  const service = await startFaultyService();
  onTestFinished(() => service.close());
  service.plan(faults.commitThenReset());
  const client = service.client("readable");
  type Effect = Awaited<ReturnType<typeof client.create>>;
  const payout = ({ id, intent }: Effect) => {
    const number = service.effects.findIndex(({ effectId }) => effectId === id) + 1;
    return { id: `po_${number}`, ...(intent as object) };
  };
  const bank = {
    pay: async ({ reference, ...body }: { reference: string }) =>
      payout(await client.create(body, { key: reference })),
    find: async ({ reference }: { reference: string }) =>
      (await client.find({ key: reference })).map(payout),
  };
  Object.assign(globalThis, { bank });

  const [program = ""] = programsOf("README.md");
  const claimed = /^const paid = .*\n\/\/=> (.*)$/m.exec(program)?.[1] ?? "";
  const folder = mkdtempSync(join(tmpdir(), "holdfire-docs-"));
  vi.stubEnv("HOLDFIRE_STORE", join(folder, ".holdfire", "ledger.db"));
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "readme.ts");
  writeFileSync(file, `${program}\nexport { paid };\n`);
  const { paid } = await import(/* @vite-ignore */ pathToFileURL(file).href);

  expect(paid).toEqual(JSON.parse(claimed.replaceAll(/(\w+):/g, '"$1":')));
  expect(service.arrivals).toHaveLength(1);
  expect(service.reads).toHaveLength(1);
  expect(service.effects).toHaveLength(1);
});

test("the demo ends as it should: two payouts, one, and one that is held", () => {
  const { FORCE_COLOR: _, ...env } = process.env;
  const output = execFileSync(process.execPath, ["examples/demo.ts"], { encoding: "utf8", env });
  expect(output.match(/payouts: \d/g)).toEqual(["payouts: 2", "payouts: 1", "payouts: 1"]);
  expect(output).toContain("unknown (lost_reply), held");
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
  const reasons = textOf("src/ledger/reasons.ts");

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
      return / See docs\/errors\.md#([a-z-]+)$/.exec(message)?.[1] ?? `none in: ${message}`;
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
