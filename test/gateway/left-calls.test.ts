/** What a host has left behind that is gone, while its gateway is still at work: it is the next host's, and not fired again. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { newWorld, PATIENT, startHost, textIn, VERSIONS } from "./world.ts";

const newFolder = temporaryFolder();

describe.each(VERSIONS)("SDK %s", (version) => {
  test("a host that dies while the server is at work, and comes back, waits for that work", async () => {
    const world = newWorld(newFolder());
    const until = join(world.folder, "go");
    const first = await startHost(world, { version });
    void first.call("note", { text: "a", until }).catch(() => {});
    await expect.poll(world.effects, PATIENT).toHaveLength(1);
    void first.die();
    const events: string[] = [];
    const second = await startHost(world, { version, onEvent: (event) => events.push(event) });
    const again = second.call("note", { text: "a", until });
    const hasDecided = () => events.includes("same") || world.effects().length > 1;
    await expect.poll(hasDecided, PATIENT).toBe(true);
    world.release(until);
    expect(textIn(await again)).toBe("noted a, 1 in all");
    expect(world.effects()).toHaveLength(1);
  });

  test("a gateway that is told to end while its server finishes its work: the next one waits for that work", async () => {
    const world = newWorld(newFolder());
    const until = join(world.folder, "go");
    const told = new AbortController();
    const first = await startHost(world, { version, leaving: told.signal });
    void first.call("note", { text: "a", until }).catch(() => {});
    await expect.poll(world.effects, PATIENT).toHaveLength(1);
    // As the AI SDK's client closes: by a signal, with the pipe left open.
    told.abort();
    const events: string[] = [];
    const second = await startHost(world, { version, onEvent: (event) => events.push(event) });
    const again = second.call("note", { text: "a", until });
    const hasDecided = () => events.includes("same") || world.effects().length > 1;
    await expect.poll(hasDecided, PATIENT).toBe(true);
    world.release(until);
    expect(textIn(await again)).toBe("noted a, 1 in all");
    expect(world.effects()).toHaveLength(1);
  });
});
