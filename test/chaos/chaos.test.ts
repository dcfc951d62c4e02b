/** `holdfire chaos` as a process, on programs that are processes. All layers and agents are in `agents.test.ts`. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { ORDERS } from "../../src/chaos/orders.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { testTerminal } from "../cli/test-terminal.ts";
import { textOf } from "../pages.ts";
import { startBank, testSmallAgent } from "./bank.ts";

test("a program that sends twice: the page shows what is printed", async () => {
  const { exitCode, out, err } = await testSmallAgent("own_loop");
  expect(exitCode, err).toBe(1);
  expect(textOf("docs/chaos.md")).toContain(
    `$ npx holdfire chaos -- node agent.ts\n${out.trimEnd()}\n`,
  );
});

test("a guarded one sends nothing twice", async () => {
  const { exitCode, out } = await testSmallAgent("guarded_loop");
  expect(out).toContain("nothing was sent again");
  expect(exitCode).toBe(0);
});

test("a write that does not come is void, and not a success", async () => {
  const { exitCode, report } = await testSmallAgent("once", "--json", "--nth", "2");
  expect(report).toMatchObject({ verdict: "void", runs: [{ isHit: false, nth: 2 }] });
  expect(exitCode).toBe(2);
});

test("a run that --timeout stops before the agent gives up is void: it may have been about to send again", async () => {
  const options = ["--fault", "lose-reply", "--timeout", "3s"];
  const { exitCode, out } = await testSmallAgent("own_loop", ...options);
  expect(out).toContain("void: --timeout stopped the run while the agent was waiting");
  expect(out).toContain("Void: 1 of 1 reply broken, 1 run stopped by --timeout.");
  expect(exitCode).toBe(2);
});

test.each([
  [["chaos"], "The agent's command is missing."],
  [["chaos", "--fault", "fire", "--", "x"], "--fault must be one of reset, lose-reply, slow"],
  [["chaos", "--runs", "0", "--", "x"], "--runs must be a whole number from 1 to 100"],
  [["chaos", "--", "no-such-program-7"], '"no-such-program-7" cannot be run'],
])("wrong usage: %j", async (argv, message) => {
  const terminal = testTerminal();
  expect(await runCommandLine(argv, COMMANDS, terminal)).toBe(2);
  expect(terminal.complained()).toContain(message);
});

describe("the preload", () => {
  const preload = `--import=${pathToFileURL(resolve("src/chaos/preload.ts")).href}`;
  const run = (orders?: string) =>
    spawnSync(process.execPath, ["-e", "fetch.name && console.log('ran')"], {
      encoding: "utf8",
      env: { ...process.env, NODE_OPTIONS: preload, ...(orders ? { [ORDERS]: orders } : {}) },
    });

  test("does nothing without orders", () => {
    expect(run()).toMatchObject({ status: 0, stdout: "ran\n", stderr: "" });
  });

  test("says that it failed, and the program runs", () => {
    const { status, stdout, stderr } = run("{");
    expect({ status, stdout }).toEqual({ status: 0, stdout: "ran\n" });
    expect(stderr).toContain("holdfire chaos: this process is not watched:");
  });

  test("a log that cannot be written does not stop a program", async () => {
    await using bank = await startBank();
    const orders = {
      ...{ folder: "/no/such/folder", salt: "s", fault: "reset", nth: 1, slowMs: 1 },
      ...{ match: [], ignore: [], modelHosts: [] },
    };
    const agent = [resolve("test/chaos/small-agent.ts"), "fails", bank.url];
    const ended = await bank.run(agent, {
      NODE_OPTIONS: preload,
      [ORDERS]: JSON.stringify(orders),
    });
    expect(ended).toEqual({ exitCode: 0, arrivals: 1 });
  });
});
