import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import {
  type Command,
  defineCommand,
  FailedError,
  UnreachableError,
} from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { wholeNumberOf } from "../../src/cli/parse.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { jsonText, paint, tableLines, visible } from "../../src/cli/terminal.ts";
import { InvalidInputError, StoreUnavailableError } from "../../src/errors.ts";
import { testTerminal } from "./test-terminal.ts";

/** Prints what it was given. */
const echo: Command = defineCommand({
  name: "echo",
  summary: "Prints what it was given.",
  takes: ["KEY", "[NOTE]"],
  about: ["A paragraph."],
  options: {
    by: { type: "string", value: "NAME", about: "Who." },
    tag: { type: "string", multiple: true, about: "Several." },
    limit: { type: "string", value: "N", about: "How many." },
    loud: { type: "boolean", short: "l", about: "Louder." },
  },
  async run({ values, positionals, rest }, terminal) {
    const limit = wholeNumberOf("limit", values.limit, { max: 100 });
    terminal.out(jsonText({ ...values, limit, positionals, rest }, 0));
    return 0;
  },
});

const failing = (error: unknown): Command =>
  defineCommand({
    name: "fail",
    summary: "Fails.",
    takes: [],
    rest: "PROGRAM",
    about: [],
    options: {},
    run: () => Promise.reject(error),
  });

async function run(argv: readonly string[], commands: readonly Command[] = [echo]) {
  const terminal = testTerminal();
  const exitCode = await runCommandLine(argv, commands, terminal);
  return { exitCode, out: terminal.printed(), err: terminal.complained() };
}

test("a command gets what was typed", async () => {
  const { exitCode, out } = await run([
    ...["echo", "k1", "--by", "ana", "--tag=a", "--tag", "b", "-l", "--limit", "7", "--", "--note"],
  ]);
  expect(exitCode).toBe(0);
  expect(JSON.parse(out)).toEqual({
    ...{ by: "ana", tag: ["a", "b"], loud: true, limit: 7, json: false, help: false },
    positionals: ["k1", "--note"],
    rest: [],
  });
});

test.each([
  [["ecoh", "k1"], 'There is no command "ecoh"', 'Did you mean "echo"?'],
  [["constructor"], 'There is no command "constructor"', "holdfire --help"],
  [["--by", "echo"], "is not a command.", "options come after"],
  [["echo"], "KEY is missing", ""],
  [["echo", "a", "b", "c"], '"c" is one argument too many', "It takes KEY [NOTE]"],
  [["echo", "a", "--bye", "ana"], "There is no option --bye", "Did you mean --by?"],
  [["echo", "a", "--__proto__"], "There is no option --__proto__", ""],
  [["echo", "a", "--by"], "--by needs a value", ""],
  [["echo", "a", "--by="], "--by needs a value", ""],
  [["echo", "a", "--by", "--loud"], "--by needs a value", "--by=VALUE"],
  [["echo", "a", "--by", "x", "--by", "y"], "--by was given twice", ""],
  [["echo", "a", "--loud=yes"], "--loud takes no value", ""],
  [["echo", "a", "--limit", "0"], "from 1 to 100", ""],
  [["echo", "a", "--limit", "1e1"], "from 1 to 100", ""],
  [["echo", "a", "\u001b[31mb", "c"], "one argument too many", ""],
])("%j is wrong use, and is told what is wrong", async (argv, message, hint) => {
  const { exitCode, out, err } = await run(argv);
  expect(exitCode).toBe(2);
  expect(out).toBe("");
  expect(err).toContain(message);
  expect(err).toContain(hint);
  expect(err).not.toContain("\u001b");
});

test.each([
  [new FailedError("no"), 1],
  [new Error("a bug"), 1],
  [new UnreachableError("no"), 3],
  [new StoreUnavailableError("open"), 3],
  [new InvalidInputError("by", "must be a name"), 2],
])("%o ends with %i", async (error, expected) => {
  const plain = await run(["fail"], [failing(error)]);
  expect(plain.exitCode).toBe(expected);
  expect(plain.err).toContain(error.message);
  const json = await run(["fail", "--json"], [failing(error)]);
  expect(json.exitCode).toBe(expected);
  expect(JSON.parse(json.err)).toEqual({ error: error.message, exitCode: expected });
  // After `--` it is the other program's option.
  expect((await run(["fail", "--", "x", "--json"], [failing(error)])).err).toBe(plain.err);
});

test("help lists the commands, and explains each", async () => {
  for (const argv of [["--help"], ["-h"], ["help"]]) {
    const { exitCode, out } = await run(argv);
    expect(exitCode).toBe(0);
    expect(out).toContain("echo  Prints what it was given.");
  }
  for (const argv of [
    ["echo", "--help"],
    ["echo", "-h"],
    ["help", "echo"],
  ]) {
    const { exitCode, out } = await run(argv);
    expect(exitCode).toBe(0);
    expect(out).toContain("holdfire echo KEY [NOTE] [OPTIONS]");
    expect(out).toContain("--by NAME");
    expect(out).toContain("--json");
  }
  expect((await run([])).exitCode).toBe(2);
});

test("a value may begin with a dash, as a digest or an id does; an option is none", async () => {
  const run = async (...argv: string[]) => {
    const terminal = testTerminal();
    const exitCode = await runCommandLine(argv, [echo], terminal);
    return { exitCode, said: terminal.printed() + terminal.complained() };
  };
  expect((await run("echo", "-ajUiG61Sf05", "--by", "-y4EZm4MBUeb")).exitCode).toBe(0);
  expect(await run("echo", "a", "--by", "--tag")).toMatchObject({ exitCode: 2 });
  expect(await run("echo", "a", "--by", "-h")).toMatchObject({ exitCode: 2 });
});

test("help and version are JSON where that is asked for, wherever it stands", async () => {
  const run = async (...argv: string[]) => {
    const terminal = testTerminal();
    await runCommandLine(argv, COMMANDS, terminal);
    return JSON.parse(terminal.printed());
  };
  expect(await run("--version", "--json")).toEqual({ version: manifest.version });
  const { commands } = await run("--json", "--help");
  expect(commands.map(({ name }: { name: string }) => name)).toContain("show");
  for (const argv of [
    ["help", "show"],
    ["show", "--help"],
  ]) {
    const help = await run(...argv, "--json");
    expect(help).toMatchObject({ name: "show", takes: ["KEY"], options: { store: {} } });
  }
});

test.each([
  ["stdout", { isTTY: true, isErrorTTY: false }, false],
  ["stderr", { isTTY: false, isErrorTTY: true }, true],
])("where only %s is a terminal, errors are coloured: %s", async (_, given, isColoured) => {
  const terminal = testTerminal(given);
  await runCommandLine(["nonsense"], COMMANDS, terminal);
  expect(terminal.complained().includes("\u001b[")).toBe(isColoured);
});

test("the program knows its version, and ends with the code of its command", () => {
  const start = (...argv: string[]) =>
    spawnSync(process.execPath, ["src/cli/main.ts", ...argv], { encoding: "utf8" });
  expect(start("--version")).toMatchObject({ status: 0, stdout: `${manifest.version}\n` });
  expect(start("doctr")).toMatchObject({ status: 2, stdout: "" });
});

test("colours are for terminals, and for those who want them", () => {
  const red = (given: object) => paint(testTerminal(given), "red", "x");
  expect(red({ isTTY: true })).toBe("\u001b[31mx\u001b[39m");
  expect(red({})).toBe("x");
  expect(red({ isTTY: true, env: { NO_COLOR: "1" } })).toBe("x");
  expect(red({ isTTY: true, env: { TERM: "dumb" } })).toBe("x");
});

test("what cannot be seen is shown", () => {
  expect(visible("a\u202eb\u200bc\u001b[2Jd\ne\u{e0041}")).toBe(
    "a\\u{202e}b\\u{200b}c\\u{1b}[2Jd\\ne\\u{e0041}",
  );
  expect(visible("\u009b31m\ufe0f\u2028\ud800")).toBe("\\u{9b}31m\\u{fe0f}\\u{2028}\\u{d800}");
  expect(visible("grüße, 你好")).toBe("grüße, 你好");
  expect(visible("x".repeat(600))).toBe(`${"x".repeat(500)}…`);
});

test("JSON hides nothing either, and stays the same value", () => {
  const value = { text: "a\u202eb\u009b\u{e0041}\u001b\n", list: [1] };
  const text = jsonText(value);
  for (const hidden of ["\u202e", "\u009b", "\u001b"]) expect(text).not.toContain(hidden);
  expect(JSON.parse(text)).toEqual(value);
});

test("columns line up, also when cells are painted", () => {
  const painted = paint(testTerminal({ isTTY: true }), "red", "10");
  const lines = tableLines(
    [{ title: "n", align: "right" }, { title: "name" }],
    [
      ["1", "a"],
      [painted, "b"],
    ],
  );
  expect(lines).toEqual([" n  name", " 1  a", `${painted}  b`]);
});
