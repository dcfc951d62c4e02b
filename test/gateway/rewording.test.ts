/** After a model was told that an outcome is unknown: which other calls may be the same wish in other words. */
import { describe, expect, test } from "vitest";
import type { GatewayRule } from "../../src/gateway/guard/rules.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { type Host, type HostOptions, newWorld, startHost, textIn, type World } from "./world.ts";

const newFolder = temporaryFolder();
const LOST = { to: "ana", text: "5 euros", hang: true };
const rulesFor = (pay: GatewayRule) => ({ pay });
const outcomeIn = async (called: ReturnType<Host["call"]>): Promise<string> => {
  const said = textIn(await called);
  return said.startsWith("{") ? JSON.parse(said).outcome : "done";
};

/** A host whose model was told that `LOST` is unknown: its gateway was ended in mid-call. */
async function afterUnknown(options: HostOptions = {}): Promise<{ world: World; host: Host }> {
  const world = newWorld(newFolder());
  const first = await startHost(world, options);
  first.call("pay", LOST).catch(() => {});
  await expect.poll(world.effects).toHaveLength(1);
  await first.killServer();
  const host = await startHost(world, options);
  expect(await outcomeIn(host.call("pay", LOST))).toBe("unknown");
  return { world, host };
}

describe("another call of a tool that writes, after an unknown", () => {
  test("one that has an argument in common is held, and one that has none passes", async () => {
    const { host } = await afterUnknown();
    expect(await outcomeIn(host.call("pay", { to: "ana", text: "five euros" }))).toBe("held");
    expect(await outcomeIn(host.call("pay", { to: "ben", text: "7 euros" }))).toBe("done");
    // Many calls have these by chance.
    expect(await outcomeIn(host.call("pay", { to: "carl", hang: false }))).toBe("done");
  });

  test("a gateway that comes later knows what the one before has told", async () => {
    const { world, host } = await afterUnknown();
    await host.end();
    const next = await startHost(world);
    expect(await outcomeIn(next.call("pay", { to: "ana", text: "five euros" }))).toBe("held");
    expect(await outcomeIn(next.call("pay", { to: "ben", text: "7 euros" }))).toBe("done");
  });

  test("after --within it passes: one unknown does not stop a tool for ever", async () => {
    const { world, host } = await afterUnknown();
    // Past the ten minutes by more than the gateway's estimate of the ledger's clock can be off.
    world.pass(660_000);
    expect(await outcomeIn(host.call("pay", { to: "ana", text: "five euros" }))).toBe("done");
  });

  test("a rule says what a call is about", async () => {
    const { host } = await afterUnknown({ rules: rulesFor({ about: ["to"] }) });
    expect(await outcomeIn(host.call("pay", { to: "ben", text: "5 euros" }))).toBe("done");
    expect(await outcomeIn(host.call("pay", { to: "ana", text: "five euros" }))).toBe("held");
  });

  test("a rule lets all pass, or refuses", async () => {
    const other = { to: "ana", text: "five euros" };
    const allowing = await afterUnknown({ rules: rulesFor({ onDrift: "allow" }) });
    expect(await outcomeIn(allowing.host.call("pay", other))).toBe("done");
    const refusing = await afterUnknown({ rules: rulesFor({ onDrift: "refuse" }) });
    expect(await outcomeIn(refusing.host.call("pay", other))).toBe("denied");
  });

  test("a person sees both, and a yes gives up the earlier one", async () => {
    const asked: string[] = [];
    const elicit = (message: string) => {
      asked.push(message);
      return "yes" as const;
    };
    const { world, host } = await afterUnknown({ elicit });
    expect(await outcomeIn(host.call("pay", { to: "ana", text: "five euros" }))).toBe("done");
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain("five euros");
    expect(asked[0]).toContain("5 euros");
    const { items } = await host.hf.operations.list();
    expect(items.map(({ status, reason }) => reason ?? status)).toEqual(["abandoned", "committed"]);
    expect(world.effects()).toHaveLength(2);
  });

  test("one of a tool of which nothing is said passes: it may be a read", async () => {
    const world = newWorld(newFolder());
    const host = await startHost(world);
    const lost = { to: "ana", text: "5 euros", die: true };
    expect(await outcomeIn(host.call("note", lost))).toBe("unknown");
    const next = await startHost(world);
    expect(await outcomeIn(next.call("note", { to: "ana", text: "five euros" }))).toBe("done");
  });
});
