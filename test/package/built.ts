/**
 * What must hold although the build puts modules together into fewer files: what is loaded, one copy of each class with
 * its own name, and files that are found by their address.
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startBank } from "../chaos/bank.ts";
import { start } from "../cli/start.ts";
import { runProgram, userEnvironment } from "./run-program.ts";

/** The files of the package that an import loads. */
const LOADED = `
  import { registerHooks } from "node:module";
  const files = new Set();
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const [, file] = resolved.url.split("/node_modules/holdfire/");
      if (file) files.add(file);
      return resolved;
    },
  });
  await import(process.argv[2]);
  console.log(JSON.stringify([...files].sort()));
`;

/** Exported functions and classes whose own name is another: that of an error is read by people and by SDKs. */
const NAMES = `
  const wrong = [];
  for (const specifier of JSON.parse(process.argv[2])) {
    for (const [name, value] of Object.entries(await import(specifier))) {
      if (typeof value === "function" && value.name !== name) wrong.push([specifier, name, value.name]);
    }
  }
  console.log(JSON.stringify(wrong));
`;

/** An error of a subpath each, told apart by the classes of the root. */
const ERRORS = `
  import { ClosedError, createHoldfire, HoldfireError, InvalidInputError } from "holdfire";
  import { memoryStore } from "holdfire/memory";
  import { redisStore } from "holdfire/redis";
  import { sqliteStore } from "holdfire/sqlite";
  const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
  const pay = hf.tool({ name: "pay", kind: "write", run: async () => 1 });
  await hf.close();
  const closed = sqliteStore({ path: "closed.db" });
  await closed.close();
  const thrown = [
    [ClosedError, () => pay({}, { scope: "s" })],
    [ClosedError, () => closed.open()],
    [InvalidInputError, () => sqliteStore({ path: 1 })],
    [InvalidInputError, () => redisStore({ client: {} })],
  ];
  const found = [];
  for (const [expected, fail] of thrown) {
    const error = await Promise.try(fail).catch((one) => one);
    found.push([error.name, error instanceof expected && error instanceof HoldfireError]);
  }
  console.log(JSON.stringify(found));
`;

/** A loop of the agent's own around a call that is not guarded, and then one that is. */
const AGENT = `
import { createHoldfire } from "holdfire";
import { memoryStore } from "holdfire/memory";
const [, , url] = process.argv;
const send = (path) => fetch(url + path, { method: "POST", body: "{}" });
for (let attempt = 1; attempt < 3; attempt += 1) {
  const answer = await send("/loop").catch(() => undefined);
  if (answer) break;
}
const hf = createHoldfire({ store: memoryStore({ forgets: "accepted" }) });
const pay = hf.tool({ name: "pay", kind: "write", run: async () => (await send("/pay")).status });
await pay({}, { scope: "s" });
await hf.close();
`;
const LOOP_LINE = AGENT.split("\n").findIndex((line) => line.includes("await send")) + 1;

export function testBuilt(project: () => string, specifiers: () => readonly string[]): void {
  const run = (name: string, text: string, ...args: readonly string[]) => {
    writeFileSync(join(project(), name), text);
    return JSON.parse(runProgram("node", [name, ...args], project()));
  };

  test("the root is three files", () => {
    expect(run("loaded.mjs", LOADED, "holdfire")).toEqual([
      "dist/index.js",
      "dist/shared/base.js",
      "dist/shared/core.js",
    ]);
  });

  test("every exported function and class has the name it is exported by", () => {
    expect(run("names.mjs", NAMES, JSON.stringify(specifiers()))).toEqual([]);
  });

  test("an error of any subpath is an instance of the root's class", () => {
    expect(run("errors.mjs", ERRORS)).toEqual([
      ["ClosedError", true],
      ["ClosedError", true],
      ["InvalidInputError", true],
      ["InvalidInputError", true],
    ]);
  });

  describe("a program that is watched", () => {
    const watch = async (url: string, ...argv: readonly string[]) => {
      writeFileSync(join(project(), "agent.mjs"), AGENT);
      const main = join(project(), "node_modules", "holdfire", "dist", "cli", "main.js");
      const command = [...argv, "--json", "--", process.execPath, "agent.mjs", url];
      const { out, err } = await start(command, project(), userEnvironment(), main);
      return JSON.parse(out || JSON.stringify({ err }));
    };

    test("doctor --live knows the operation that a request belongs to", async () => {
      await using bank = await startBank();
      expect(await watch(bank.url, "doctor", "--live")).toMatchObject({
        exitCode: 0,
        operations: [{ attempts: 1, requests: 1, again: 0, first: `POST ${bank.url}/pay` }],
        outside: [{ path: "/loop", requests: 1, again: 0 }],
      });
    });

    test("chaos names the line that sends again", async () => {
      await using bank = await startBank();
      const { verdict, runs } = await watch(bank.url, "chaos", "--match", "*/loop");
      expect({ verdict, again: runs[0].sentAgain }).toMatchObject({
        verdict: "sent_twice",
        again: [{ layer: "loop", at: `agent.mjs:${LOOP_LINE}` }],
      });
    });
  });
}
