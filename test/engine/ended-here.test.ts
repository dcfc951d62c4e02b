import { expect, test } from "vitest";
import { rememberEnd, sinceEnds } from "../../src/engine/steps/parts/ended-here.ts";
import { engineOf } from "./engine-of.ts";

test("each end is remembered for its time, and nothing is left after the last", async () => {
  const engine = engineOf();
  const ends = (id: string) => Object.fromEntries(sinceEnds(id, engine));
  rememberEnd("a", 1, 100, engine);
  await engine.clock.advance(40);
  rememberEnd("a", 2, 100, engine);
  rememberEnd("b", 1, 10, engine);
  expect([ends("a"), ends("b"), ends("c")]).toEqual([{ 1: 40, 2: 0 }, { 1: 0 }, {}]);
  await engine.clock.advance(60);
  expect([ends("a"), ends("b")]).toEqual([{ 2: 60 }, {}]);
  await engine.clock.advance(40);
  expect(ends("a")).toEqual({});
  expect(engine.endedHere.size).toBe(0);
});

test("a clock that is set does not make an end older", async () => {
  const engine = engineOf();
  rememberEnd("a", 1, 100, engine);
  engine.clock.jump(3_600_000);
  await engine.clock.advance(5);
  expect(sinceEnds("a", engine).get(1)).toBe(5);
});
