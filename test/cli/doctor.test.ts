import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { testTerminal } from "./test-terminal.ts";

const newFolder = temporaryFolder();

/** A project on disk: paths and what is in them. */
function project(files: Readonly<Record<string, unknown>>): string {
  const folder = newFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const text = typeof content === "string" ? content : JSON.stringify(content);
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const installed = (name: string, version: string, at = `node_modules/${name}`) => ({
  [`${at}/package.json`]: { name, version },
});

async function doctor(folder: string, ...options: string[]) {
  const terminal = testTerminal({ cwd: folder });
  const exitCode = await runCommandLine(["doctor", ...options], COMMANDS, terminal);
  return { exitCode, out: terminal.printed(), err: terminal.complained() };
}

interface Found {
  readonly findings: readonly {
    readonly client: { readonly name: string };
    readonly direct: boolean;
    readonly owned: string;
    readonly packages: readonly {
      readonly name: string;
      readonly versions: readonly string[];
      readonly from: string;
    }[];
  }[];
  readonly uncovered: readonly string[];
  readonly worstCase?: { readonly requests: number };
}

async function found(folder: string): Promise<Found> {
  return JSON.parse((await doctor(folder, "--json")).out);
}

test("the storm: p-retry around LangGraph around openai", async () => {
  const folder = project({
    "package.json": {
      dependencies: { openai: "^7.0.0", "p-retry": "^9.0.0", "@langchain/langgraph": "^1.0.0" },
    },
    ...installed("openai", "7.53.0"),
    ...installed("p-retry", "9.0.0"),
    ...installed("@langchain/langgraph", "1.4.18"),
  });
  const { exitCode, out } = await doctor(folder);
  expect(exitCode).toBe(0);
  expect(out).toMatch(/^openai +7\.53\.0 +3 +yes +yes +holdfire\/openai +not seen$/m);
  expect(out).toMatch(/^p-retry +9\.0\.0 +11 if asked +yes +yes +none$/m);
  expect(out).toContain("11 × 3 × 3 = 99 requests (p-retry, @langchain/langgraph, openai)");
  expect(out).toContain("asks it to: p-retry, @langchain/langgraph.");
  expect(out).toContain(`import { ownRetries } from "holdfire/openai"`);
  expect(out).not.toContain("\u001b");
});

describe("--strict", () => {
  const manifest = { dependencies: { stripe: "*", "p-retry": "*" } };

  test("ends with 1 while something that retries by itself is not covered", async () => {
    const folder = project({ "package.json": manifest, ...installed("stripe", "23.1.0") });
    expect(await doctor(folder, "--strict")).toMatchObject({ exitCode: 1 });
    expect((await doctor(folder, "--strict", "--json")).exitCode).toBe(1);
    expect(await found(folder)).toMatchObject({ uncovered: ["stripe"] });
  });

  test.each([
    ["src/pay.ts", `import { ownRetries } from "holdfire/stripe";`, 0],
    ["deep/er/pay.mjs", "const { ownRetries } = await import('holdfire/stripe');", 0],
    ["src/pay.ts", `import { ownRetries } from "holdfire/openai";`, 1],
    ["src/pay.ts", `import "holdfire/stripe";`, 1],
    ["README.md", `import { ownRetries } from "holdfire/stripe";`, 1],
    ["dist/pay.js", `import { ownRetries } from "holdfire/stripe";`, 1],
    ["node_modules/x/pay.js", `import { ownRetries } from "holdfire/stripe";`, 1],
  ])("%s with %s ends with %i", async (path, text, expected) => {
    const folder = project({
      ...{ "package.json": manifest, [path]: text },
      ...installed("stripe", "23.1.0"),
    });
    expect((await doctor(folder, "--strict")).exitCode).toBe(expected);
  });

  test("a transitive dependency is not the project's to own", async () => {
    const folder = project({
      "package.json": { dependencies: { "@langchain/openai": "*" } },
      "agent.ts": `import { ownRetries } from "holdfire/langchain";`,
      ...installed("@langchain/openai", "1.6.0"),
      ...installed("openai", "6.1.0", "node_modules/@langchain/openai/node_modules/openai"),
    });
    const { exitCode, out } = await doctor(folder, "--strict");
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^openai \* +6\.1\.0/m);
    expect(out).toContain("Counted in 7.53.0; yours may differ.");
    expect(out).not.toContain("Worst case");
  });
});

test("a loop that is only a transitive dependency is not mentioned: holdfire itself depends on p-retry", async () => {
  const folder = project({
    "package.json": { dependencies: { holdfire: "*" } },
    ...installed("p-retry", "9.0.0"),
    ...installed("undici", "7.0.0"),
  });
  const { exitCode, out } = await doctor(folder, "--strict");
  expect(exitCode).toBe(0);
  expect(out).toBe("Nothing that is known to retry by itself was found.\n");
});

test("pnpm: links, and every version in its own place", async () => {
  const place = (name: string, version: string) =>
    installed(
      name,
      version,
      `node_modules/.pnpm/${name.replace("/", "+")}@${version}_zod@4.0.0/node_modules/${name}`,
    );
  const folder = project({
    "package.json": { dependencies: { "@anthropic-ai/sdk": "*" } },
    ...place("@anthropic-ai/sdk", "1.8.0"),
    ...place("openai", "6.49.0"),
    ...place("openai", "7.53.0"),
  });
  mkdirSync(join(folder, "node_modules/@anthropic-ai"));
  symlinkSync(
    "../.pnpm/@anthropic-ai+sdk@1.8.0_zod@4.0.0/node_modules/@anthropic-ai/sdk",
    join(folder, "node_modules/@anthropic-ai/sdk"),
  );
  const { findings } = await found(folder);
  expect(findings.map(({ client, direct, packages }) => [client.name, direct, packages])).toEqual([
    ["openai", false, [expect.objectContaining({ versions: ["6.49.0", "7.53.0"] })]],
    ["@anthropic-ai/sdk", true, [expect.objectContaining({ versions: ["1.8.0"] })]],
  ]);
});

test("AWS: any client, one row", async () => {
  const folder = project({
    "package.json": { dependencies: { "@aws-sdk/client-s3": "*", "@aws-sdk/client-ses": "*" } },
    ...installed("@aws-sdk/client-s3", "3.1.0"),
    ...installed("@aws-sdk/client-ses", "3.1.0"),
  });
  expect((await doctor(folder)).out).toMatch(/^@aws-sdk\/client-s3 \+1 +3\.1\.0 +3 /m);
});

test("a workspace finds what is installed at its root, as far as it asks for it", async () => {
  const folder = project({
    ...installed("got", "16.1.0"),
    ...installed("ky", "2.1.0"),
    "packages/a/package.json": { devDependencies: { got: "*" } },
  });
  const { findings } = await found(join(folder, "packages/a"));
  expect(findings.map(({ client }) => client.name)).toEqual(["got"]);
  expect(findings[0]?.packages[0]).toMatchObject({ versions: ["16.1.0"], from: "node_modules" });
});

const LOCKFILES = {
  "package-lock.json": JSON.stringify({
    lockfileVersion: 3,
    packages: {
      "": { dependencies: { openai: "^7" } },
      "node_modules/openai": { version: "7.53.0" },
      "node_modules/x/node_modules/@anthropic-ai/sdk": { version: "1.8.0" },
    },
  }),
  "pnpm-lock.yaml": [
    "lockfileVersion: '9.0'",
    "importers:",
    "  .:",
    "    dependencies:",
    "      openai:",
    "        specifier: ^7.0.0",
    "packages:",
    "  '@anthropic-ai/sdk@1.8.0':",
    "    resolution: {integrity: sha512-x}",
    "  openai@7.53.0(zod@4.6.7):",
    "    resolution: {integrity: sha512-x}",
  ].join("\n"),
  "yarn.lock": [
    "# yarn lockfile v1",
    `"@anthropic-ai/sdk@^1.0.0", "@anthropic-ai/sdk@^1.8.0":`,
    `  version "1.8.0"`,
    `  dependencies:`,
    `    zod "^4"`,
    `"openai@npm:^7.0.0":`,
    `  version: 7.53.0`,
  ].join("\n"),
  "bun.lock": [
    "{",
    `  "packages": {`,
    `    "@anthropic-ai/sdk": ["@anthropic-ai/sdk@1.8.0", "", { "peerDependencies": {} }, "sha512-x"],`,
    `    "openai": ["openai@7.53.0", "", { "bin": "x" }, "sha512-y"],`,
    "  },",
    "}",
  ].join("\n"),
};

test.each(Object.entries(LOCKFILES))("nothing installed: %s tells", async (file, text) => {
  const folder = project({ "package.json": { dependencies: { openai: "^7.0.0" } }, [file]: text });
  const { findings } = await found(folder);
  const rows = findings.map(({ client, packages, direct }) => [
    client.name,
    direct,
    packages[0]?.versions,
    packages[0]?.from,
  ]);
  expect(rows).toEqual([
    ["openai", true, ["7.53.0"], file],
    ["@anthropic-ai/sdk", false, ["1.8.0"], file],
  ]);
});

test("neither installed nor locked: what the package.json asks for", async () => {
  const folder = project({ "package.json": { dependencies: { openai: "^7.0.0" } } });
  const { findings } = await found(folder);
  expect(findings[0]?.packages[0]).toMatchObject({ versions: ["^7.0.0"], from: "package.json" });
});

test("what a package.json claims cannot steer a terminal", async () => {
  const folder = project({
    "package.json": { dependencies: { openai: "*" } },
    ...installed("openai", "7.0.0\u001b[2J\u202e"),
  });
  const { out } = await doctor(folder);
  expect(out).toContain("7.0.0\\u{1b}[2J\\u{202e}");
});

test("a folder can be named, and one without a project is told so", async () => {
  const folder = project({
    "app/package.json": { dependencies: { ky: "*" } },
    "bad/package.json": "{ not json",
    "list/package.json": "[]",
  });
  expect((await doctor(folder, "app")).out).toContain("holdfire/ky");
  for (const [name, message] of [
    ["nowhere", "no package.json"],
    ["bad", "cannot be read as JSON"],
    ["list", "cannot be read as JSON"],
  ] as const) {
    const { exitCode, err } = await doctor(folder, name);
    expect(exitCode).toBe(2);
    expect(err).toContain(message);
  }
});

test("a project with broken parts is still read", async () => {
  const folder = project({
    "package.json": { dependencies: { openai: 7, ky: null }, devDependencies: "none" },
    "node_modules/openai/package.json": "{",
    "package-lock.json": JSON.stringify({ packages: { "node_modules/openai": null } }),
  });
  symlinkSync(".", join(folder, "circle"));
  const { exitCode, out } = await doctor(folder);
  expect(exitCode).toBe(0);
  expect(out).toMatch(/^openai +7 +3 /m);
});
