/**
 * Tries the packed package with tools that bring a module system of their own, and are fetched for it: bundles of
 * esbuild, and Jest. Prints what it finds, and ends with 1 if something is not as it should be.
 *
 * Where they cannot be fetched this is skipped, and with HOLDFIRE_REQUIRE_SERVERS=1 it is a failure.
 *
 * @module
 */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { env } from "node:process";
import { packInto, writeProject } from "./pack.ts";
import { type Ran, runProgram, tryProgram } from "./run-program.ts";

const TOOLS = ["esbuild@0.28.2", "jest@30.5.2"];
const FLAGS = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];

/** The same call twice at once on the default ledger, which is loaded when it is first used. */
const PAY = `
  import { createHoldfire } from "holdfire";
  const hf = createHoldfire({ app: "bundle" });
  let sent = 0;
  const pay = hf.tool({ name: "pay", kind: "write", run: async () => (sent += 1) });
  const scope = process.argv[2];
  Promise.all([pay({}, { scope }), pay({}, { scope })])
    .finally(() => hf.close())
    .then((both) => console.log(JSON.stringify({ both, sent })));
`;
const PAID = '{"both":[1,1],"sent":1}';

/** The contract of a store, a lost reply, and the lock of another connection: its error is of another realm. */
const JEST = `
  import { mkdtempSync } from "node:fs";
  import { tmpdir } from "node:os";
  import { join } from "node:path";
  import { describe, expect, test } from "@jest/globals";
  import { absent, committed, createHoldfire } from "holdfire";
  import { sqliteStore } from "holdfire/sqlite";
  import { faults, startFaultyService, storeContract } from "holdfire/testing";

  let path;
  const newPath = () => (path = join(mkdtempSync(join(tmpdir(), "holdfire-jest-")), "ledger.db"));
  storeContract("sqlite", {
    runner: { describe, test },
    open: ({ now }) => sqliteStore({ path: newPath(), now }),
    reopen: ({ now }) => sqliteStore({ path, now }),
  });

  test("a lost reply pays once", async () => {
    const service = await startFaultyService();
    const bank = service.client("readable");
    const hf = createHoldfire({ store: sqliteStore({ path: newPath() }) });
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      run: (args, { key, signal }) => bank.create(args, { key, signal }),
      readState: async ({ key }) => {
        const [found] = await bank.find({ key });
        return found ? committed(found, { effectId: found.id }) : absent();
      },
    });
    service.plan(faults.commitThenReset());
    expect((await pay.outcome({ cents: 1 }, { scope: "s" })).status).toBe("committed");
    expect(service.effects).toHaveLength(1);
    await hf.close();
    await service.close();
  });

  test("a call waits for the lock of another connection", async () => {
    const store = sqliteStore({ path: newPath() });
    await store.open();
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    const hf = createHoldfire({ store });
    const call = hf.tool({ name: "pay", kind: "write", run: async () => 1 })({}, { scope: "s" });
    setTimeout(() => other.exec("COMMIT"), 50);
    expect(await call).toBe(1);
    other.close();
    await hf.close();
  });
`;

const place = mkdtempSync(join(tmpdir(), "holdfire-tools-"));
process.on("exit", () => rmSync(place, { recursive: true, force: true }));

let wrong = 0;
function say(what: string, isRight: boolean, { out, err }: Ran): void {
  console.log(`${isRight ? "ok   " : "WRONG"} ${what}`);
  if (isRight) return;
  wrong += 1;
  console.log(`${out}\n${err}`);
}

/** Each bundle, by its file: what esbuild is told. */
const BUNDLES: Readonly<Record<string, readonly string[]>> = {
  "esm.mjs": ["--format=esm", "--outfile=esm.mjs"],
  "cjs.cjs": ["--format=cjs", "--outfile=cjs.cjs"],
  "minified.mjs": ["--format=esm", "--minify", "--outfile=minified.mjs"],
  "split/pay.mjs": ["--format=esm", "--splitting", "--outdir=split", "--out-extension:.js=.mjs"],
};

function check(project: string): void {
  const bin = (name: string): string => join(project, "node_modules", ".bin", name);
  writeFileSync(join(project, "pay.js"), PAY);
  for (const [file, flags] of Object.entries(BUNDLES)) {
    runProgram(bin("esbuild"), ["pay.js", "--bundle", "--platform=node", ...flags], project);
    const ran = tryProgram("node", ["--no-warnings", file, file], project);
    say(`esbuild ${flags.join(" ")}: ${ran.out.trim()}`, ran.out.trim() === PAID, ran);
  }
  mkdirSync(join(project, "jest"));
  writeFileSync(join(project, "jest", "holdfire.test.mjs"), JEST);
  const jest = join(project, "node_modules", "jest", "bin", "jest.js");
  const argv = ["--experimental-vm-modules", "--no-warnings", jest, "--rootDir=jest"];
  const ran = tryProgram("node", [...argv, "--testMatch=**/*.test.mjs"], project);
  const passed = /^Tests: +(\d+) passed, \1 total$/m.exec(ran.err)?.[1];
  say(`jest: ${passed ?? 0} tests`, ran.status === 0 && Number(passed) > 100, ran);
}

mkdirSync(join(place, "tree"));
const { tarball } = packInto(join(place, "tree"));
const project = join(place, "project");
mkdirSync(project);
writeProject(project);
const fetched = tryProgram("npm", ["install", ...FLAGS, tarball, ...TOOLS], project);
if (fetched.status === 0) check(project);
else if (env.HOLDFIRE_REQUIRE_SERVERS === "1") say(`fetch ${TOOLS.join(", ")}`, false, fetched);
else console.log(`SKIPPED: ${TOOLS.join(", ")} cannot be fetched.\n${fetched.err}`);
process.exitCode = wrong > 0 ? 1 : 0;
