/** `holdfire init`: what it finds, what it writes, what it leaves alone; and that what it writes is right. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { TEMPLATES } from "../../src/cli/init/templates.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { envelopes, modelSaying, toolTexts } from "../integrations/shared/scripted.ts";
import { emptyProject, installedProject, SOURCES } from "./init-project.ts";
import { start } from "./start.ts";
import { testTerminal } from "./test-terminal.ts";

const MODULE = { type: "module" };

async function init(cwd: string, ...argv: readonly string[]) {
  const terminal = testTerminal({ cwd });
  const exitCode = await runCommandLine(["init", ...argv], COMMANDS, terminal);
  return { exitCode, printed: terminal.printed(), complained: terminal.complained() };
}

const said = async (cwd: string, ...argv: readonly string[]) =>
  JSON.parse((await init(cwd, "--json", ...argv)).printed);

describe("the framework", () => {
  test.each([
    ["ai", ["ai"]],
    ["langchain", ["langchain", "openai"]],
    ["langchain", ["@langchain/langgraph"]],
    ["openai-agents", ["@openai/agents", "openai"]],
    ["mastra", ["ai", "@mastra/core", "openai"]],
    ["anthropic", ["@anthropic-ai/sdk"]],
    ["openai", ["openai", "@modelcontextprotocol/sdk"]],
    ["mcp", ["@modelcontextprotocol/client"]],
    ["mcp-v1", ["@modelcontextprotocol/sdk"]],
    ["plain", ["left-pad"]],
  ])("is %s for a project with %j", async (framework, names) => {
    const dependencies = Object.fromEntries(names.map((name) => [name, "1"]));
    const report = await said(emptyProject({ ...MODULE, dependencies }));
    expect(report.framework).toBe(framework);
  });

  test("is plain without dependencies, and the one that is asked for", async () => {
    expect(await said(emptyProject(MODULE))).toMatchObject({ framework: "plain" });
    const folder = emptyProject({ ...MODULE, dependencies: { ai: "7" } });
    expect(await said(folder, "--framework", "openai")).toMatchObject({ framework: "openai" });
  });

  test("is an error if nobody knows it, and nothing is written", async () => {
    const folder = emptyProject(MODULE);
    const { exitCode, complained } = await init(folder, "--framework", "rails");
    expect({ exitCode, files: readdirSync(folder) }).toEqual({
      exitCode: 2,
      files: ["package.json"],
    });
    expect(complained).toContain("mastra, openai-agents, langchain");
  });

  test("cannot be found without a package.json", async () => {
    const folder = emptyProject(MODULE);
    rmSync(join(folder, "package.json"));
    expect(await init(folder)).toMatchObject({ exitCode: 2, printed: "" });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("what it writes", () => {
  test("ends in .mts where files are not ES modules by themselves", async () => {
    for (const given of [{}, { type: "commonjs" }]) {
      const folder = emptyProject(given);
      const { exitCode, printed } = await init(folder);
      expect(exitCode).toBe(0);
      expect(readdirSync(folder).sort()).toEqual([
        "holdfire.config.mts",
        "holdfire.example.mts",
        "package.json",
      ]);
      expect(printed).toContain("node holdfire.example.mts");
      const example = readFileSync(join(folder, "holdfire.example.mts"), "utf8");
      expect(example).toContain('from "./holdfire.config.mts"');
    }
  });

  test("tells the packages that are missing, in the words of the package manager", async () => {
    const folder = emptyProject({ ...MODULE, dependencies: { ai: "7", zod: "4" } });
    writeFileSync(join(folder, "pnpm-lock.yaml"), "");
    const { next } = await said(folder);
    expect(next).toEqual([
      "pnpm add holdfire @ai-sdk/openai",
      "OPENAI_API_KEY=... node holdfire.example.ts",
      "npx holdfire ls",
    ]);
  });

  test("notes what TypeScript must be told", async () => {
    const folder = emptyProject(MODULE);
    writeFileSync(join(folder, "tsconfig.json"), "{ /* mine */ }");
    expect((await said(folder, "--dry-run")).notes.join()).toContain("allowImportingTsExtensions");
    const told = '{ "compilerOptions": { "allowImportingTsExtensions": true } }';
    writeFileSync(join(folder, "tsconfig.json"), told);
    expect((await said(folder, "--dry-run")).notes).toEqual([]);
  });

  test("nothing at all on a dry run, which shows it", async () => {
    const folder = emptyProject(MODULE);
    mkdirSync(join(folder, ".git"));
    const { exitCode, printed } = await init(folder, "--dry-run");
    expect(exitCode).toBe(0);
    expect(printed).toContain("would write holdfire.config.ts");
    expect(printed).toContain("would add .holdfire/ to .gitignore");
    expect(printed).toContain("    export const payOut = hf.tool({");
    expect(readdirSync(folder).sort()).toEqual([".git", "package.json"]);
  });
});

describe("what is there already", () => {
  test("is left alone, byte for byte, and said", async () => {
    const folder = emptyProject(MODULE);
    writeFileSync(join(folder, "holdfire.config.ts"), "mine");
    const first = await init(folder);
    expect(first.exitCode).toBe(1);
    expect(first.printed).toContain("left alone holdfire.config.ts");
    expect(first.printed).toContain("wrote holdfire.example.ts");
    expect(first.printed).toContain("imports hf from ./holdfire.config.ts");
    writeFileSync(join(folder, "holdfire.example.ts"), "mine, too");
    const report = await said(folder);
    expect(report).toMatchObject({
      written: [],
      leftAlone: ["holdfire.config.ts", "holdfire.example.ts"],
    });
    expect(readFileSync(join(folder, "holdfire.config.ts"), "utf8")).toBe("mine");
    expect(readFileSync(join(folder, "holdfire.example.ts"), "utf8")).toBe("mine, too");
  });

  test("is not hidden by a config of another ending", async () => {
    const folder = emptyProject(MODULE);
    writeFileSync(join(folder, "holdfire.config.mjs"), "mine");
    const { exitCode, printed } = await init(folder);
    expect(exitCode).toBe(1);
    expect(printed).toContain("left alone holdfire.config.mjs");
    expect(readdirSync(folder)).not.toContain("holdfire.config.ts");
  });

  test("is not written through a link that leads nowhere", async () => {
    const folder = emptyProject(MODULE);
    symlinkSync(join(folder, "elsewhere"), join(folder, "holdfire.example.ts"));
    const { exitCode, printed } = await init(folder);
    expect(exitCode).toBe(1);
    expect(printed).toContain("left alone holdfire.example.ts");
    expect(readdirSync(folder)).not.toContain("elsewhere");
  });
});

describe(".gitignore", () => {
  const ignored = (folder: string) => readFileSync(join(folder, ".gitignore"), "utf8");

  test("gets the line once, on a line of its own", async () => {
    const folder = emptyProject(MODULE);
    mkdirSync(join(folder, ".git"));
    writeFileSync(join(folder, ".gitignore"), "node_modules/");
    expect((await said(folder)).gitignore).toBe("added");
    expect((await said(folder)).gitignore).toBe("there");
    expect(ignored(folder)).toBe("node_modules/\n.holdfire/\n");
  });

  test("is made where there is none, and not outside of git", async () => {
    const folder = emptyProject(MODULE);
    expect((await said(folder)).gitignore).toBe("none");
    mkdirSync(join(folder, ".git"));
    await init(folder);
    expect(ignored(folder)).toBe(".holdfire/\n");
  });

  test.each([
    [".holdfire", "there"],
    ["**/.holdfire/", "there"],
    ["/.holdfire/", "added"],
  ])("%s at the root of a monorepo: %s", async (line, expected) => {
    const root = emptyProject(MODULE);
    mkdirSync(join(root, ".git"));
    writeFileSync(join(root, ".gitignore"), `dist/\r\n${line}\r\n`);
    mkdirSync(join(root, "app"));
    writeFileSync(join(root, "app", "package.json"), "{}");
    expect((await said(root, "app")).gitignore).toBe(expected);
  });
});

test("every template imports only what is exported, and compiles in strict mode", async () => {
  const place = resolve("node_modules/.cache/holdfire-init");
  rmSync(place, { recursive: true, force: true });
  for (const { name } of TEMPLATES) {
    const folder = join(place, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), JSON.stringify(MODULE));
    expect((await init(folder, "--framework", name)).exitCode).toBe(0);
    const example = readFileSync(join(folder, "holdfire.example.ts"), "utf8");
    const subpaths = [...example.matchAll(/"holdfire(\/[\w-]+)?"/g)].map(
      ([, sub = ""]) => `.${sub}`,
    );
    expect([...SOURCES.keys()]).toEqual(expect.arrayContaining(subpaths));
  }
  const paths = [...SOURCES].map(([sub, file]) => [
    join("holdfire", sub),
    [relative(place, resolve(file))],
  ]);
  const compilerOptions = {
    paths: Object.fromEntries(paths),
    isolatedDeclarations: false,
    declaration: false,
  };
  const config = { extends: relative(place, resolve("tsconfig.json")), compilerOptions };
  writeFileSync(
    join(place, "tsconfig.json"),
    JSON.stringify({ ...config, include: ["*/*.ts"], exclude: [] }),
  );
  const tsc = spawnSync("node_modules/.bin/tsc", ["-p", place], { encoding: "utf8" });
  expect(tsc.stdout).toBe("");
  expect(tsc.status).toBe(0);
});

/** Runs the example as a user does, and gives what it printed. */
function runExample(cwd: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const child = spawn(process.execPath, ["holdfire.example.ts"], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  return new Promise((done, reject) => {
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? done(out) : reject(new Error(`${code}\n${err}`))));
  });
}

test("the plain example loses a reply, finds it, and is answered from the ledger the second time", async () => {
  const folder = installedProject(MODULE);
  await init(folder);
  expect(await runExample(folder)).toBe(
    "committed: sent once, found by reading, payouts made by this run: 1\n",
  );
  expect(await runExample(folder)).toBe(
    "committed: nothing was sent now, payouts made by this run: 0\n",
  );
  const listed = await start(["ls", "--json"], folder);
  expect(JSON.parse(listed.out).items).toMatchObject([{ tool: "pay_out", status: "committed" }]);
  // The config loads, and loading it runs nothing.
  const doctor = await start(["doctor", "--json", "--config", "holdfire.config.ts"], folder);
  expect(doctor).toMatchObject({ exitCode: 0, err: "" });
  expect(JSON.parse(doctor.out).app).toBe("my-agent");
});

describe("an example with a model", () => {
  const models = TEMPLATES.filter(({ env }) => env !== undefined);

  test.each(models.map(({ name }) => name))("%s pays once when it is run twice", async (name) => {
    const call = { tool: "pay", args: { payee: "ana", cents: 4000 } };
    // It makes the same request twice each time it is run.
    const sayings = [1, 2, 3, 4].flatMap(() => [call, { text: "Paid." }]);
    const server = await modelSaying(...sayings);
    const folder = installedProject(MODULE);
    await init(folder, "--framework", name);
    const env = {
      OPENAI_API_KEY: "-",
      OPENAI_BASE_URL: server.openai,
      OPENAI_AGENTS_DISABLE_TRACING: "1",
      ANTHROPIC_API_KEY: "-",
      ANTHROPIC_BASE_URL: server.anthropic,
    };
    expect(await runExample(folder, env)).toContain("Paid.");
    const [first, again] = [2, 4].map((end) =>
      envelopes({ ...server, arrivals: server.arrivals.slice(0, end) }).at(-1),
    );
    expect(first, toolTexts(server).join()).toMatchObject({
      ok: true,
      replayed: false,
      data: { payee: "ana", cents: 4000 },
    });
    expect(again).toMatchObject({ replayed: true, data: first?.data });
    expect(await runExample(folder, env)).toContain("Paid.");
    expect(envelopes(server).at(-1)).toMatchObject({ replayed: true, data: first?.data });
    expect(server.arrivals).toHaveLength(8);
  });
});

describe("an example with MCP", () => {
  test.each(["mcp", "mcp-v1"])(
    "%s asks the server once when it is run twice",
    async (name) => {
      const folder = installedProject(MODULE);
      await init(folder, "--framework", name);
      // npx finds the server that is installed here.
      mkdirSync(join(folder, "node_modules", ".bin"));
      const program = resolve("node_modules/.bin/mcp-server-memory");
      symlinkSync(program, join(folder, "node_modules", ".bin", "mcp-server-memory"));
      const env = { MEMORY_FILE_PATH: join(folder, "memory.jsonl"), npm_config_offline: "true" };
      const [first, second] = [await runExample(folder, env), await runExample(folder, env)];
      expect(JSON.parse(JSON.parse(first)[0].text)).toMatchObject({ ok: true, replayed: false });
      expect(JSON.parse(JSON.parse(second)[0].text)).toMatchObject({ ok: true, replayed: true });
    },
    // Each run starts npx, and that a server: six programs one after the other.
    120_000,
  );
});
