/**
 * One cell: one fault, one class of service, one stack. The script is played; then the fault is over, the stack settles
 * what it can, the host asks once more for what was told as failed, and the judge looks.
 *
 * @module
 */

import { PAUSE_MS } from "../fault.ts";
import type { Wish } from "../judge.ts";
import { judge, type Score, type Told } from "../judge.ts";
import type { Said, Stack, ToolClass } from "../stack.ts";
import type { StackId } from "../stacks.ts";
import type { Ground } from "./ground.ts";
import { type CellName, type OpenStage, openStage } from "./stage.ts";
import type { Pool } from "./workers.ts";

export type CellResult = {
  readonly stack: StackId;
  readonly fault: string;
  readonly toolClass: ToolClass;
  readonly seed: number;
} & (
  | { readonly tag: "judged"; readonly score: Score; readonly told: readonly Told[] }
  /** It proves nothing: the fault was not met, or the cell broke down. */
  | { readonly tag: "void"; readonly why: string }
  /** There is nothing to ask. */
  | { readonly tag: "not_applicable"; readonly why: string }
);

/** Pauses before the passes in which a stack settles what is open, in milliseconds. */
const PASSES_MS = [0, 800, 1_600, 4_000];

export async function runCell(
  name: CellName,
  stack: Stack,
  ground: Ground,
  pool: Pool,
): Promise<CellResult> {
  const { fault, toolClass, seed } = name;
  const about = { stack: name.stack, fault: fault.id, toolClass, seed };
  const why = stack.refuses?.(toolClass) ?? fault.notFor?.(toolClass, stack);
  if (why !== undefined) return { ...about, tag: "not_applicable", why };
  const lacks = ground.lacks(stack);
  if (lacks !== undefined) return { ...about, tag: "void", why: lacks };

  let stage: OpenStage | undefined;
  try {
    stage = await openStage(name, ground, pool);
    await fault.play(stage, fault.wishes);
    const counts = stage.counts();
    await stage.alwaysRead(undefined);
    await settle(stage, fault.wishes);
    if (!fault.callerIsGone) await askOnceMore(stage, fault.wishes);
    // What is still on its way arrives: a no must stay true.
    await stage.commitLate();
    const standing = await standingsOf(stage, fault.wishes);
    const logs = await stage.logs();
    const wishes = fault.wishes.map((wish) => ({ ...wish, ...stage?.thing(wish) }));
    const evidence = { ...logs, wishes, told: stage.told, standing };
    const readFaults = logs.reads.filter((read) => read.fault !== undefined).length;
    if (!fault.wasMet({ evidence, readFaults, ...counts, stack })) {
      return { ...about, tag: "void", why: "the fault was not met" };
    }
    return { ...about, tag: "judged", score: judge(evidence), told: stage.told };
  } catch (error) {
    return { ...about, tag: "void", why: `the cell broke down: ${String(error).slice(0, 200)}` };
  } finally {
    await stage?.close();
  }
}

type Standings = Readonly<Record<string, Said>>;

async function standingsOf(stage: OpenStage, wishes: readonly Wish[]): Promise<Standings> {
  const found: [string, Said][] = [];
  for (const wish of wishes) {
    const said = await stage.standing(wish);
    if (said) found.push([wish.name, said]);
  }
  return Object.fromEntries(found);
}

/** The stack settles what it can, while its records say that something is open. */
async function settle(stage: OpenStage, wishes: readonly Wish[]): Promise<void> {
  for (const ms of PASSES_MS) {
    await stage.wait(ms);
    await stage.reconcile();
    const standing = Object.values(await standingsOf(stage, wishes));
    if (!standing.includes("unknown")) return;
  }
}

/** As an agent does that was told of a failure, or to come back. One that was told that it may have happened does not. */
async function askOnceMore(stage: OpenStage, wishes: readonly Wish[]): Promise<void> {
  const standing = await standingsOf(stage, wishes);
  const isWorthIt = ({ name, isWanted, isDropped }: Wish): boolean => {
    const last = stage.told.filter(({ wish }) => wish === name).at(-1);
    const said = standing[name] ?? last?.said;
    return (
      isWanted &&
      !isDropped &&
      (said === "failed" || (said === "unknown" && last?.askAgain === true))
    );
  };
  const failed = wishes.filter(isWorthIt);
  if (failed.length === 0) return;
  await stage.wait(PAUSE_MS);
  for (const wish of failed) await stage.call(stage.lastAsk(wish));
  await settle(stage, wishes);
}
