/** The package as it is published: what is in it, and what it does in a project that has nothing else. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testBuilt } from "./built.ts";
import { faultsOf, loadAll } from "./loads.ts";
import { type Packed, packInto, specifiersOf, writeProject } from "./pack.ts";
import { runProgram, tryProgram } from "./run-program.ts";
import { testSurroundings } from "./surroundings.ts";

let place: string;
let packed: Packed;
/** An empty project into which the tarball was unpacked, as npm does. */
let project: string;
let installed: string;

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "holdfire-package-"));
  const tree = join(place, "tree");
  project = join(place, "project");
  installed = join(project, "node_modules", "holdfire");
  mkdirSync(tree);
  mkdirSync(installed, { recursive: true });
  packed = packInto(tree);
  writeProject(project, { dependencies: { holdfire: "0" } });
  runProgram("tar", ["-xzf", packed.tarball, "--strip-components=1"], installed);
  for (const name of ["p-retry", "is-network-error", "uuid"]) {
    cpSync(join("node_modules", name), join(project, "node_modules", name), { recursive: true });
  }
}, 180_000);

afterAll(() => rmSync(place, { recursive: true, force: true }));

const textOf = (path: string): string => readFileSync(join(installed, path), "utf8");

describe("what is in it", () => {
  test("code, types, docs, examples and the usual files, nothing else", () => {
    const meant =
      /^(?:dist\/[\w/.-]+\.(?:js|d\.ts)|docs\/[\w/.-]+\.(?:md|svg)|examples\/[\w.-]+\.(?:md|ts)|package\.json|LICENSE|(?:README|CHANGELOG|CONTRIBUTING|SECURITY)\.md)$/;
    expect(packed.files.filter((path) => !meant.test(path))).toEqual([]);
    expect(packed.files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "CHANGELOG.md"]));
    expect(packed.files.filter((path) => /(?:^|[/.])(?:test|spec)[/.]/.test(path))).toEqual([]);
  });

  test("no trace of the machine it was built on, and no map to files that are not there", () => {
    const traces = [place, process.cwd(), "sourceMappingURL", "file://"];
    const texts = packed.files.map((path) => ({ path, text: textOf(path) }));
    const found = texts.filter(
      ({ path, text }) =>
        path.startsWith("dist/") &&
        traces.some((trace) => text.replaceAll("pathToFileURL", "").includes(trace)),
    );
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  test("no script that runs when it is installed", () => {
    const scripts = Object.keys(packed.manifest.scripts ?? {});
    const atInstall = ["preinstall", "install", "postinstall", "preprepare", "prepare"];
    expect(scripts.filter((name) => atInstall.includes(name))).toEqual([]);
  });

  test("types name only what is a dependency, a declared peer, or Node's own", () => {
    const { dependencies, peerDependencies = {}, peerDependenciesMeta = {} } = packed.manifest;
    const declared = new Set([
      ...Object.keys(dependencies),
      ...Object.keys(peerDependencies),
      ...builtinModules.map((name) => `node:${name}`),
      // Known to Node only under this name.
      "node:sqlite",
    ]);
    const named = packed.files
      .filter((path) => path.endsWith(".d.ts"))
      .flatMap((path) => [
        ...textOf(path).matchAll(/^(?:import|export)\b[^;"]*?from\s+"([^."][^"]*)"/gm),
      ])
      .map(([, name = ""]) => name);
    expect(named).toContain("ai");
    expect([...new Set(named)].filter((name) => !declared.has(name))).toEqual([]);
    for (const peer of Object.keys(peerDependencies)) {
      expect(peerDependenciesMeta[peer]?.optional, peer).toBe(true);
    }
  });

  test("two dependencies", () => {
    expect(Object.keys(packed.manifest.dependencies)).toEqual(["p-retry", "uuid"]);
  });
});

describe("what it does in an empty project", () => {
  test("every subpath loads by import and by require(), as one copy", () => {
    const specifiers = specifiersOf(packed.manifest);
    const loaded = loadAll(project, specifiers);
    expect(loaded).toHaveLength(specifiers.length);
    expect(faultsOf(loaded)).toEqual([]);
  });

  test("a program in CommonJS guards a call", () => {
    const program = `
      const { createHoldfire } = require("holdfire");
      const { memoryStore } = require("holdfire/memory");
      const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
      let sent = 0;
      const pay = hf.tool({ name: "pay", kind: "write", run: async () => ++sent });
      Promise.all([pay({}, { scope: "a" }), pay({}, { scope: "a" })])
        .then((both) => hf.close().then(() => console.log(JSON.stringify({ both, sent }))));`;
    writeFileSync(join(project, "program.cjs"), program);
    const said = runProgram("node", ["program.cjs"], project);
    expect(JSON.parse(said)).toEqual({ both: [1, 1], sent: 1 });
  });

  test("the command runs: its version, doctor, and init, whose example runs", () => {
    const main = join(installed, "dist", "cli", "main.js");
    const holdfire = (...argv: string[]) => tryProgram("node", [main, ...argv], project);
    expect(holdfire("--version").out.trim()).toBe(packed.manifest.version);
    expect(holdfire("doctor")).toMatchObject({ status: 0, err: "" });
    expect(holdfire("init")).toMatchObject({ status: 0, err: "" });
    expect(runProgram("node", ["holdfire.example.mts"], project)).toMatch(/^committed: sent once/);
    expect(runProgram("node", ["holdfire.example.mts"], project)).toMatch(/^committed: nothing/);
    expect(holdfire("ls").out).toContain("pay_out");
    expect(holdfire("init").status).toBe(1);
  });
});

describe("what the build leaves as it is", () => {
  testBuilt(
    () => project,
    () => specifiersOf(packed.manifest),
  );
});

testSurroundings(() => project);
