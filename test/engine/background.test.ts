import { expect, test } from "vitest";
import { inBackground } from "../../src/engine/engine.ts";
import { listen } from "../observe/heard.ts";
import { engineOf } from "./engine-of.ts";

test("work that goes on after its call is known until it has ended", async () => {
  const engine = engineOf();
  const heard = listen(engine.events);
  let end = () => {};
  inBackground(
    engine,
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  expect(engine.pending.count()).toBe(1);
  end();
  await engine.clock.settle();
  expect(engine.pending.count()).toBe(0);
  expect(heard("store")).toEqual([]);
});

test("such work that fails is told to listeners, and to nobody else", async () => {
  const engine = engineOf();
  const heard = listen(engine.events);
  const error = new Error("the disk is full");
  inBackground(engine, () => Promise.reject(error));
  await engine.clock.settle();
  expect(heard("store")).toMatchObject([{ status: "error", step: "background" }]);
  expect(heard("store")[0]).toHaveProperty("error", error);
  expect(engine.pending.count()).toBe(0);
});
