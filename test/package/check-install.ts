/**
 * Tries the package as a new user would: packs it, installs it into empty folders with npm, and uses it. Prints
 * what it finds, and ends with 1 if something is not as it should be.
 *
 *     npm run check:install             all of it; fetches TypeScript 5.9 and 6
 *     npm run check:install -- --quick  without what needs fetching
 *
 * @module
 */

import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { followPage } from "./follow-page.ts";
import { faultsOf, loadAll } from "./loads.ts";
import { packInto, specifiersOf, writeProject } from "./pack.ts";
import { runProgram } from "./run-program.ts";
import { RESOLUTIONS, typeCheck, writeUses } from "./type-check.ts";

const PAGE = resolve("docs/1-getting-started.md");
const MOST_COMMANDS = 9;
const FLAGS = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];

const isQuick = process.argv.includes("--quick");
const place = mkdtempSync(join(tmpdir(), "holdfire-install-"));
process.on("exit", () => rmSync(place, { recursive: true, force: true }));

const failures: string[] = [];
function say(what: string, found: string, faults: readonly string[] = []): void {
  console.log(`${faults.length > 0 ? "WRONG" : "ok   "} ${what}: ${found}`);
  for (const fault of faults) console.log(`      ${fault}`);
  failures.push(...faults);
}

function emptyFolder(name: string): string {
  const folder = join(place, name);
  mkdirSync(folder);
  return folder;
}

function bytesIn(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

const kilobytes = (bytes: number): string => `${Math.round(bytes / 1024)} kB`;

const { tarball, manifest, packedBytes, files } = packInto(emptyFolder("tree"));
const specifiers = specifiersOf(manifest);
const install = (folder: string) => runProgram("npm", ["install", ...FLAGS, tarball], folder);
say("packed", `${files.length} files, ${kilobytes(packedBytes)}`);

// An empty project: what comes with it, and what each subpath does there.
const project = emptyFolder("project");
writeProject(project);
install(project);
const modules = join(project, "node_modules");
const lock = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8"));
const locked = Object.entries<{ hasInstallScript?: boolean }>(lock.packages);
say(
  "installed",
  `${locked.length} packages (holdfire and ${locked.length - 1} others), ${kilobytes(bytesIn(modules))}`,
  locked.length > 4 ? [`too many: ${locked.map(([path]) => path).join(", ")}`] : [],
);
const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript);
say(
  "install scripts",
  String(scripted.length),
  scripted.map(([path]) => path),
);
const loaded = loadAll(project, specifiers);
say("import and require()", `${loaded.length} subpaths`, faultsOf(loaded));

for (const format of ["cyclonedx", "spdx"]) {
  const bill = runProgram("npm", ["sbom", `--sbom-format=${format}`], project);
  const missing = locked
    .map(([path]) => path.replace("node_modules/", ""))
    .filter((name) => !bill.includes(`"name": "${name}"`));
  say(
    "npm sbom",
    format,
    missing.map((name) => `does not name ${name}`),
  );
}

const holdfire = (...argv: string[]) =>
  runProgram("npx", ["--no-install", "holdfire", ...argv], project);
const version = holdfire("--version").trim();
say("npx holdfire --version", version, version === manifest.version ? [] : ["is another version"]);
holdfire("doctor");
say("npx holdfire doctor", "ends with 0");
holdfire("init");
const example = runProgram("node", ["holdfire.example.mts"], project).trim();
const isRight = example.startsWith("committed: sent once");
say("npx holdfire init, and its example", example, isRight ? [] : ["is not what it should print"]);

// The page, to the letter; only what is not published yet comes from the tarball.
const followed = followPage(PAGE, emptyFolder("page"), {
  "npm install holdfire": `npm install ${FLAGS.join(" ")} ${tarball}`,
});
const { commands, saved, ran, compared } = followed;
say(
  "getting started, to the letter",
  `${commands.length} commands, ${saved.length} files, ${ran} programs, ${compared} outputs as shown`,
  [
    ...(commands.includes("npm install holdfire") ? [] : ["it does not say npm install holdfire"]),
    ...(commands.length > MOST_COMMANDS ? [`more than ${MOST_COMMANDS} commands`] : []),
    ...(saved.length === 0 || compared === 0 ? ["there is nothing to save or to see"] : []),
  ],
);

// TypeScript, in a project with nothing but holdfire and in one with the packages that its types name.
const compilers = new Map([["7", resolve("node_modules/.bin/tsc")]]);
for (const wanted of isQuick ? [] : ["5.9", "6"]) {
  const folder = emptyFolder(`typescript-${wanted}`);
  writeProject(folder);
  runProgram("npm", ["install", ...FLAGS, `typescript@${wanted}`], folder);
  compilers.set(wanted, join(folder, "node_modules", ".bin", "tsc"));
}
for (const withPeers of [false, true]) {
  const folder = emptyFolder(withPeers ? "types-with-peers" : "types-alone");
  writeProject(folder);
  install(folder);
  writeUses(folder, specifiers, withPeers);
  for (const tsc of compilers.values()) {
    const name = runProgram(tsc, ["--version"], folder).trim();
    for (const resolution of Object.keys(RESOLUTIONS)) {
      const { ours, others } = typeCheck(tsc, folder, resolution);
      const where = withPeers ? "with ai, langchain, vitest" : "alone";
      const elsewhere = others > 0 ? `, ${others} errors in types of other packages` : "";
      say(`TypeScript ${name}`, `${resolution}, strict, ${where}${elsewhere}`, ours);
    }
  }
}

// Whoever has an older framework and does not use its subpath must not be kept out.
if (!isQuick) {
  const folder = emptyFolder("older-peers");
  const devDependencies = { ai: "^5.0.0", langchain: "^0.3.0", vitest: "^3.0.0" };
  writeProject(folder, { devDependencies });
  runProgram("npm", ["install", ...FLAGS, "--package-lock-only", tarball], folder);
  say("beside older frameworks", Object.entries(devDependencies).flat().join(" "));
}

writeFileSync(1, failures.length > 0 ? `${failures.length} wrong\n` : "all well\n");
process.exitCode = failures.length > 0 ? 1 : 0;
