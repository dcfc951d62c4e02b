/** `holdfire/testing` works without vitest: it imports no runner, and the contracts run under another one. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { memoryStore } from "../../src/stores/memory.ts";
import { storeContract } from "../../src/testing/index.ts";

/** Refuses every test runner, as where none is installed. */
const REFUSE = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({
    resolve(specifier, context, next) {
      if (/^(?:vitest|@vitest|@jest|jest)\\b/.test(specifier)) throw new Error("refused: " + specifier);
      return next(specifier, context);
    },
  });`)}`;

function node(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  // Not the variables of this runner: node:test prints otherwise in a child of a test.
  const { NODE_TEST_CONTEXT: _, VITEST: __, ...inherited } = process.env;
  return spawnSync(process.execPath, [`--import=${REFUSE}`, ...args], {
    encoding: "utf8",
    env: { ...inherited, ...env },
  });
}

const ENTRY = JSON.stringify(pathToFileURL(resolve("src/testing/index.ts")).href);

describe("where vitest cannot be resolved", () => {
  test("the entry imports, and the faulty service works", () => {
    const code = `
      const { faults, startFaultyService } = await import(${ENTRY});
      await using service = await startFaultyService();
      service.plan(faults.commitThenReset());
      await service.client("keyed").create({ amount: 400 }, { key: "k1" }).catch(() => {});
      console.log(service.effects.length);`;
    const { stdout, stderr } = node(["--input-type=module", "--eval", code]);
    expect({ stdout, stderr }).toEqual({ stdout: "1\n", stderr: "" });
  });

  test("the refusal bites", () => {
    const { stderr } = node(["--input-type=module", "--eval", 'await import("vitest")']);
    expect(stderr).toContain("refused: vitest");
  });

  test("a contract without a runner says what to pass", () => {
    const code = `
      const { storeContract } = await import(${ENTRY});
      try { storeContract("none", { open() {} }); } catch (error) { console.log(error.message); }`;
    const { stdout } = node(["--input-type=module", "--eval", code]);
    expect(stdout).toContain("Pass { describe, test } of your test runner.");
  });

  const PROGRAM = ["--test", "--test-reporter=tap", "test/testing/runner-contracts.ts"];

  test("both contracts pass under node:test", () => {
    const { stdout, status } = node(PROGRAM);
    expect(stdout).toMatch(/^# fail 0$/m);
    expect(Number(/^# pass (\d+)$/m.exec(stdout)?.[1])).toBeGreaterThan(100);
    expect(status).toBe(0);
  });

  test("a broken store fails under node:test", () => {
    const { stdout, status } = node(PROGRAM, { BROKEN_STORE: "1" });
    expect(stdout).toMatch(/^ *not ok \d+ - an effect goes to the first that asks/m);
    expect(status).toBe(1);
  });
});

describe("a runner that is passed", () => {
  const titles: string[] = [];
  const arity = new Set<number>();
  const ran: Promise<void>[] = [];
  storeContract("memory", {
    open: ({ now }) => memoryStore({ now }),
    runner: {
      describe: (_, body) => body(),
      // As Jest calls it: without a context.
      test(title, body) {
        titles.push(title);
        arity.add(body.length);
        ran.push(body());
      },
    },
  });

  test("gets every test, and each is a function of no arguments", async () => {
    await Promise.all(ran);
    expect(titles.length).toBeGreaterThan(100);
    expect(new Set(titles).size).toBe(titles.length);
    expect([...arity]).toEqual([0]);
  });
});
