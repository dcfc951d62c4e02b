/** Answers that came too late, or not at all, while the host went on to something else. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createChaos } from "../../src/gateway/break-answers.ts";
import { systemClock } from "../../src/lang/clock.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { newWorld, PATIENT, startHost, textIn, VERSIONS } from "./world.ts";

const newFolder = temporaryFolder();

const losing = (tool: string) =>
  createChaos({
    mode: "lose-reply",
    nth: 1,
    tool,
    slowMs: 0,
    random: () => 0,
    clock: systemClock,
    die: () => {},
    log: () => {},
  });

describe.each(VERSIONS)("SDK %s", (version) => {
  test("the answer comes at 61 s, the host has gone on to something else, and calls again: one effect", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world, { version });
    const until = join(world.folder, "go");
    // Of a tool without hints, which is made again once its answer was received.
    const params = { name: "note", arguments: { text: "a", until } };
    const answered = host.next(({ id }) => id === 777);
    host.write(JSON.stringify({ jsonrpc: "2.0", id: 777, method: "tools/call", params }));
    await expect.poll(world.effects, PATIENT).toHaveLength(1);
    world.pass(61_000);
    world.release(until);
    await answered;
    await host.listTools();
    expect(textIn(await host.call("note", { text: "a", until }))).toBe("noted a, 1 in all");
    expect(world.effects()).toHaveLength(1);
  });

  test("a lost answer to holdfire_do_again: one successor, whatever is called then and by whom", async () => {
    const world = newWorld(newFolder());
    const first = await startHost(world, { version, chaos: losing("holdfire_do_again") });
    await first.call("pay", { text: "a" });
    await first.call("list_notes");
    const [, operation] =
      /"operation":"([\w-]+)"/.exec(textIn(await first.call("pay", { text: "a" }))) ?? [];
    const again = { operation, why: "wanted twice" };
    const lost = first.call("holdfire_do_again", again, { timeout: 300 });
    await expect(lost).rejects.toThrow();
    const paid = () => world.effects().length;
    await expect.poll(paid, PATIENT).toBe(2);
    expect(textIn(await first.call("holdfire_do_again", again))).toBe("noted a, 2 in all");
    await first.die();
    const second = await startHost(world, { version });
    const told = await second.call("holdfire_do_again", again);
    expect(JSON.parse(textIn(told))).toMatchObject({ outcome: "committed" });
    expect(textIn(await second.call("pay", { text: "a" }))).toBe("noted a, 2 in all");
    await second.call("holdfire_do_again", again);
    expect(paid()).toBe(2);
  });
});
