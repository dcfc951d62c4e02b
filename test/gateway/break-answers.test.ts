/** Answers that are broken on purpose: what a host does with a lost one, with the guard and without it. */
import { describe, expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { type ChaosMode, createChaos, seeded } from "../../src/gateway/break-answers.ts";
import { createReport } from "../../src/gateway/report.ts";
import { systemClock } from "../../src/lang/clock.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { newWorld, startHost, VERSIONS } from "./world.ts";

const newFolder = temporaryFolder();

const chaosOf = (mode: ChaosMode, logged: string[] = []) =>
  createChaos({
    mode,
    nth: 1,
    tool: "pay",
    slowMs: 1_000,
    random: () => 0,
    clock: systemClock,
    die: () => {},
    log: (line) => logged.push(line),
  });

describe.each(VERSIONS)("SDK %s", (version) => {
  test.each(["lose-reply", "slow"] as const)(
    "%s: a host that calls again has two effects without the guard, one with it",
    async (mode) => {
      for (const unguarded of [true, false]) {
        const world = newWorld(newFolder());
        const host = await startHost(world, { version, chaos: chaosOf(mode), unguarded });
        await expect(host.call("pay", { text: "a" }, { timeout: 500 })).rejects.toThrow();
        await host.call("pay", { text: "a" });
        expect(world.effects()).toHaveLength(unguarded ? 2 : 1);
      }
    },
  );
});

test("twice: a call that comes twice is done twice without the guard, once with it", async () => {
  for (const unguarded of [true, false]) {
    const world = newWorld(newFolder());
    const logged: string[] = [];
    const host = await startHost(world, { raw: true, chaos: chaosOf("twice", logged), unguarded });
    const answered = host.next(({ id }) => id === 2);
    const params = { name: "pay", arguments: { text: "a" } };
    host.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
    const next = { name: "look", arguments: {} };
    host.write(JSON.stringify({ jsonrpc: "2.0", id: 2, method: "tools/call", params: next }));
    await answered;
    await host.end();
    const paid = world.effects().filter(({ name }) => name === "pay");
    expect(paid).toHaveLength(unguarded ? 2 : 1);
    expect(logged).toEqual(["chaos: twice for call 1 (pay)"]);
  }
});

test("a seed repeats what was random", () => {
  const some = (seed: number) => Array.from({ length: 20 }, seeded(seed));
  expect(some(7)).toEqual(some(7));
  expect(some(7)).not.toEqual(some(8));
  expect(some(7).every((number) => number >= 0 && number < 1)).toBe(true);
});

test("a report counts what happened", () => {
  const report = createReport(createHoldfire({ store: memoryStore() }));
  report.count("call");
  report.count("call");
  report.count("guarded");
  expect(report.lines().slice(0, 3)).toEqual([
    "     2 tool calls of the host",
    "     1 of them guarded; the others only read",
    "     0 sent to the server under the guard",
  ]);
});
