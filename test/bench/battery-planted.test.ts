/** The whole battery, with its processes and its service, catches stacks that do wrong on purpose. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FaultCase } from "../../bench/battery/fault.ts";
import { FAULTS, SUCCESS } from "../../bench/battery/faults.ts";
import { verdictOf } from "../../bench/battery/judge.ts";
import { runAll } from "../../bench/battery/run/all.ts";
import { runCell } from "../../bench/battery/run/cell.ts";
import { type Ground, openGround } from "../../bench/battery/run/ground.ts";
import { createPool, type Pool } from "../../bench/battery/run/workers.ts";
import { loadStack, type StackId } from "../../bench/battery/stacks.ts";

let ground: Ground;
let pool: Pool;

beforeAll(async () => {
  ground = await openGround(new Set());
  pool = createPool(ground.folder);
});

afterAll(async () => {
  await pool.end();
  await ground.end();
});

const faultOf = (id: string): FaultCase => FAULTS.find((fault) => fault.id === id) ?? SUCCESS;

async function verdict(stack: StackId, fault: string): Promise<string> {
  const cell = { stack, fault: faultOf(fault), toolClass: "readable", seed: 1 } as const;
  const result = await runCell(cell, await loadStack(stack), ground, pool);
  return result.tag === "judged" ? verdictOf(result.score) : `${result.tag}: ${result.why}`;
}

test.for<[StackId, string, string]>([
  ["planted_twice", "success", "duplicate"],
  ["planted_twice", "reply_lost", "duplicate"],
  ["planted_loses", "request_lost", "lost"],
  ["planted_lies", "reply_lost", "duplicate"],
  ["planted_lies", "declined", "ok"],
  ["planted_holds", "success", "not_done"],
  ["memory", "reply_lost", "ok"],
])("%s in %s is judged as %s", async ([stack, fault, expected]) => {
  expect(await verdict(stack, fault)).toBe(expected);
});

test("a fault that is not met makes the cell void, and a failed success the whole column", async () => {
  expect(await verdict("planted_holds", "reply_lost")).toBe("void: the fault was not met");
  const cells = [SUCCESS, faultOf("declined")].map((fault) => ({
    stack: "planted_holds" as const,
    fault,
    toolClass: "readable" as const,
    seed: 2,
  }));
  const stacks = new Map([["planted_holds", await loadStack("planted_holds")]] as const);
  const seen: number[] = [];
  const onProgress = ({ done }: { readonly done: number }) => void seen.push(done);
  const results = await runAll({ cells, stacks, ground, pool, atOnce: 1, onProgress });
  expect(results[1]).toMatchObject({
    tag: "void",
    why: "its own test of a success failed: not sent",
  });
  expect(seen).toEqual([1, 2]);
});
