import { expect, test } from "vitest";
import { ROOMS, type Room, wholesOf } from "./rooms.ts";
import { draw, intervalOf, type Sample, sampleLine, sampleOf } from "./sample.ts";

const mutants = Array.from({ length: 1_000 }, (_, at) => `m${at}`);
const same = (name: string): string => name;
const drawn = (count: number, seed: number) => draw(mutants, same, { count, seed });

const counts = {
  hash: "a",
  killed: 270,
  timeout: 4,
  survived: 20,
  noCoverage: 6,
  ignored: 0,
  errors: 3,
  alive: {},
};
const sample: Sample = sampleOf(counts, { seed: 1, drawn: 303, of: 4_812 });

test("a draw has as many as were asked for, each once, in their own order", () => {
  const some = drawn(300, 1);
  expect(some).toHaveLength(300);
  expect(new Set(some).size).toBe(300);
  expect(some).toEqual(mutants.filter((one) => some.includes(one)));
  expect(drawn(5_000, 1)).toEqual(mutants);
  expect(drawn(0, 1)).toEqual([]);
});

test("the same seed draws the same, another seed others", () => {
  expect(drawn(300, 1)).toEqual(drawn(300, 1));
  expect(drawn(300, 1)).not.toEqual(drawn(300, 2));
});

test("a larger sample holds the smaller one, and a mutant more changes no more than one", () => {
  expect(drawn(300, 1)).toEqual(expect.arrayContaining([...drawn(100, 1)]));
  const more = draw(["new", ...mutants], same, { count: 300, seed: 1 });
  expect(drawn(300, 1).filter((one) => !more.includes(one)).length).toBeLessThanOrEqual(1);
});

test("each mutant is as likely as any other", () => {
  const seeds = Array.from({ length: 200 }, (_, seed) => seed);
  const times = new Map<string, number>();
  for (const one of seeds.flatMap((seed) => drawn(500, seed)))
    times.set(one, (times.get(one) ?? 0) + 1);
  // Of 200 draws of one half: 100 times, with a deviation of 7. Five of those, and the seeds are fixed.
  for (const one of mutants) expect(Math.abs((times.get(one) ?? 0) - 100)).toBeLessThan(36);
  const ofFirstHalf = mutants.slice(0, 500).reduce((sum, one) => sum + (times.get(one) ?? 0), 0);
  expect(Math.abs(ofFirstHalf - 50_000)).toBeLessThan(800);
});

test("the interval is Wilson's", () => {
  // The four examples of Newcombe (1998), method 3.
  expect(intervalOf(81, 263)).toEqual({ low: 25.5, high: 36.6 });
  expect(intervalOf(15, 148)).toEqual({ low: 6.2, high: 16 });
  expect(intervalOf(0, 20)).toEqual({ low: 0, high: 16.1 });
  expect(intervalOf(1, 29)).toEqual({ low: 0.6, high: 17.2 });
  expect(intervalOf(20, 20)).toEqual({ low: 83.9, high: 100 });
});

test("nothing measured says nothing", () => {
  expect(intervalOf(0, 0)).toEqual({ low: 0, high: 100 });
});

test("what ended in an error counts neither way", () => {
  expect(sample).toMatchObject({ drawn: 303, score: 91.3, interval: { low: 87.6, high: 94 } });
});

test("the line of a sample tells its score, the interval, and how many of how many", () => {
  expect(sampleLine(sample, "a")).toBe("sampled: 91.3 % (87..94, 300 of 4,812)");
});

test("a sample of sources that have changed since is stale", () => {
  expect(sampleLine(sample, "b")).toBe("sampled: 91.3 % (87..94, 300 of 4,812, stale)");
  expect(sampleLine(sample, undefined)).toContain("stale");
});

test("a sample without mutants has no score", () => {
  const none = sampleOf({ ...counts, killed: 0, timeout: 0, survived: 0, noCoverage: 0 }, sample);
  expect(sampleLine(none, "a")).toBe("sampled: - % (0..100, 0 of 4,812)");
});

const roomOf = (wanted: string): Room => {
  const room = ROOMS.find(({ name }) => name === wanted);
  if (room === undefined) throw new Error(`No room is called ${wanted}.`);
  return room;
};
const namesOf = (room: string, ...paths: readonly string[]) =>
  wholesOf(roomOf(room), paths).map(({ name }) => name);

test("a folder with tests of its own is sampled apart, and each file once", () => {
  expect(namesOf("stores")).toEqual([
    "src/stores",
    "src/stores/sqlite",
    "src/stores/redis",
    "src/stores/postgres",
  ]);
  expect(namesOf("stores", "src/stores")).toEqual(namesOf("stores"));
  const [own] = wholesOf(roomOf("stores"), []);
  expect(own?.files).toContain("src/stores/memory.ts");
  expect(own?.files.filter((file) => file.includes("/redis/"))).toEqual([]);
});

test("a sample is of what was named, and of no other room", () => {
  expect(namesOf("stores", "src/stores/redis")).toEqual(["src/stores/redis"]);
  expect(namesOf("stores", "src/stores/redis/swap.ts")).toEqual(["src/stores/redis/swap.ts"]);
  expect(namesOf("engine", "src/stores/redis")).toEqual([]);
  expect(namesOf("engine", "src/engine/admin", "src/engine/reader.ts")).toEqual([
    "src/engine/admin src/engine/reader.ts",
  ]);
});
