/** The named tests that catch the planted bugs of `told-bugs.ts`. */

import { expect, test } from "vitest";
import { finish } from "../liveness.ts";
import type { Fate } from "../world/fates.ts";
import { approver } from "../world/person.ts";
import { broken, wish, worldOf } from "./in-a-world.ts";

test("a model that was told unknown and words its wish anew is held", async () => {
  const world = worldOf();
  await finish(world, 0, wish("N", { fates: ["lost_reply"], step: "m1" }));
  await finish(world, 1, wish("N", { what: "b", step: "m2" }));
  expect(await broken(world, "I18")).toBe("");
});

test("what a person gave up for another wording is not fired again", async () => {
  const world = worldOf();
  const lost = Array<Fate>(3).fill("lost-request");
  await finish(world, 0, wish("K", { fates: lost, step: "m1" }));
  const other = wish("K", { what: "b", step: "m2" });
  await finish(world, 1, other);
  await approver(world);
  await finish(world, 1, other);
  expect(await broken(world, "I17")).toBe("");
});

test("what was answered is not told as still running", async () => {
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
    const world = worldOf({ seed });
    await finish(world, 0, wish("R", { fates: ["late_commit"], deadlineMs: 3_500 }));
    expect(await broken(world, "I19")).toBe("");
  }
});
