/**
 * The second phase of a sequence: faults stop, processes restart, and every intent is called again
 * until it is settled, or is an `unknown` that nobody but a person can lift.
 */

import type { OperationRecord } from "../../src/ledger/record.ts";
import { type Broken, opOfRecord } from "./checker.ts";
import { TIMES, type ToolClass, traitsOf } from "./world/settings.ts";
import type { Call, CallSpec, World } from "./world/world.ts";
import { opOf } from "./world/world.ts";

const ROUNDS = 4;

export async function converge(world: World, broken: Broken): Promise<void> {
  await calm(world);
  await checkLateTruth(world, broken);
  for (const process of world.processes) process.crash();
  await world.time.advance(2 * TIMES.attempt + TIMES.commitsWithin + 3_000);

  const wishes = wishesOf(world.calls);
  const last = new Map<string, Call>();
  for (let round = 0; round < ROUNDS; round += 1) {
    let open = 0;
    for (const [op, specs] of wishes) {
      if (isFinal(last.get(op))) continue;
      open += 1;
      const spec = specs[round % specs.length];
      if (spec) last.set(op, await finish(world, 0, spec));
    }
    if (open === 0) break;
    await world.time.advance(TIMES.cooldown + 100);
  }
  for (const [op, first] of last) {
    const isLong = await isStuck(world, op, first);
    const call = isLong ? await patiently(world, first, wishes.get(op) ?? []) : first;
    if (await isStuck(world, op, call)) {
      const { outcome, error } = call;
      const reason = outcome && "reason" in outcome ? outcome.reason : String(error);
      broken("I14 liveness", `${op}: still ${outcome?.status} (${reason})`);
    }
    if (isFinal(call)) await replay(world, call, broken);
  }
  await world.time.advance(60_000);
  for (const process of world.processes) {
    const left = process.isRunning() ? process.life().host.timers() : 0;
    if (left > 0) broken("I12 bounded", `${process.name}: ${left} timers are left`);
  }
}

const isStuck = async (world: World, op: string, call: Call): Promise<boolean> =>
  !isFinal(call) && !(await mayStayOpen(world, op, call));

/**
 * A process that stood still while the store answered knows its time only so well: what is read then takes longer.
 * One wording may prove that nothing happened, and only another one, or a later call, fires again.
 */
async function patiently(world: World, last: Call, specs: readonly CallSpec[]): Promise<Call> {
  if (!traitsOf(last.spec.tool).readable) return last;
  await world.time.advance(TIMES.keyMemory);
  let call = last;
  for (const spec of [...specs, ...specs]) {
    if (isFinal(call)) break;
    call = await finish(world, 0, spec);
    await world.time.advance(TIMES.cooldown + 100);
  }
  return call;
}

/** From here on all goes well; what is under way comes to its end. */
async function calm({ store, processes, time }: World): Promise<void> {
  store.down(undefined);
  for (const process of processes) {
    process.calm();
    await process.thaw("timers");
  }
  // The longest deadline, and the longest pause between two tries to write an outcome down.
  await time.advance(TIMES.deadline + 30_000);
}

/** A yes that a living process has heard is in the ledger, however late it came. */
async function checkLateTruth(world: World, broken: Broken): Promise<void> {
  const alive = new Set(
    world.processes
      .filter((process) => process.isRunning())
      .map((process) => process.life().host.name),
  );
  const dump = await recordsOf(world);
  for (const { op, tool, by, heard, answer, late, distorted } of world.network.sends) {
    if (!alive.has(by) || world.forgotten.get(op)) continue;
    const state = dump.get(op)?.state.tag;
    if (late && state === "not_applied" && world.service.exists(op)) {
      broken("I5 not applied is true for ever", `${op}: ${by} sent it late, ledger: ${state}`);
    }
    if (!heard || answer !== "yes" || traitsOf(tool).lies || distorted) continue;
    if (state !== "committed")
      broken("I7 late truth is recorded", `${op}: ${by} heard yes, ledger: ${state}`);
  }
}

const recordsOf = async ({ store }: World): Promise<ReadonlyMap<string, OperationRecord>> =>
  new Map((await store.dump()).map((record) => [opOfRecord(record), record]));

/** Every operation, with each wording in which it was asked for. */
function wishesOf(calls: readonly Call[]): ReadonlyMap<string, readonly CallSpec[]> {
  const wishes = new Map<string, CallSpec[]>();
  for (const { spec, op } of calls) {
    const { tool, scope, what, again, key, note } = spec;
    const plain: CallSpec = { tool, scope, what, again, key, note };
    const known = wishes.get(op) ?? [];
    if (!known.some((other) => other.what === what && other.note === note)) known.push(plain);
    wishes.set(op, known);
  }
  return wishes;
}

export async function finish(world: World, process: number, spec: CallSpec): Promise<Call> {
  const call = world.call(world.process(process), spec);
  // Beyond this the checker calls it unbounded.
  for (let waited = 0; call.endedAt === undefined && waited < 60_000; waited += 500) {
    await world.time.advance(500);
  }
  return call;
}

function isFinal(call: Call | undefined): boolean {
  if (!call?.outcome) return false;
  const { outcome, spec } = call;
  return (
    outcome.status === "committed" ||
    (outcome.status === "not_applied" && mayRest(outcome, spec.tool))
  );
}

/** What stays until a caller or a person says otherwise. */
const mayRest = ({ reason, attempts }: NotApplied, tool: ToolClass): boolean =>
  reason === "rejected" ||
  // What was never fired is certainly not sent, and fires again by itself.
  (reason === "not_sent" && attempts > 0 && traitsOf(tool).wire === "ambient");

type NotApplied = Extract<NonNullable<Call["outcome"]>, { status: "not_applied" }>;

/** Where the design itself says that only a person can go on. */
async function mayStayOpen(world: World, op: string, { spec, outcome }: Call): Promise<boolean> {
  const { honours, conditional, readable, bounded, lies, composite } = traitsOf(spec.tool);
  // It ends as its inner operations do, and one of them cannot be looked up.
  if (composite) return true;
  const sends = world.network.sends.filter((sent) => sent.op === op);
  // A failure stored under the key comes back for as long as the service remembers it; two alike are
  // taken for one that was stored.
  const failures = sends.filter(({ answer }) => answer === "error").length;
  if (honours && (sends.at(-1)?.answer === "error" || failures > 1)) return true;
  // A person is asked, and has not answered.
  if (outcome?.status === "conflict" || outcome?.status === "held") return true;
  // A clock was set: by it keys run out too early, and what has to wait waits for too long.
  if (world.clocksSet.size > 0) return true;
  const { attempts = [], generation, abandonedFor } = (await recordsOf(world)).get(op) ?? {};
  if (abandonedFor !== undefined) return true;
  if (outcome?.status !== "unknown") return false;
  // The reaper here spares no age: an owner that missed its own row takes the store for one that lost it.
  if (outcome.reason === "store_lost") return world.forgotten.size > 0;
  // What left late, under a key that was rejected before, is not recognised by its next key.
  const isOfOldKey = attempts.some(
    (one) => one.generation !== generation && one.verdict === "unknown",
  );
  if (isOfOldKey && !readable) return true;
  // Its thread may go on for ever, as far as is known.
  const isUnvetoable = world.calls.some(
    (call) => call.op === op && call.spec.manner === "other-way",
  );
  if (isUnvetoable && outcome.reason === "absent_unproven") return true;
  if (lies) return sends.some(({ fate }) => fate === "lie" || fate === "lie-slow");
  if (readable && bounded) return false;
  if (readable || (!honours && !conditional)) return true;
  // Without a reader a no after a doubt is a dead end, and so is a key that has run out.
  if (outcome.reason === "rejected_in_doubt" || outcome.reason === "key_spent") return true;
  if (sends.some(({ answer }) => answer === "no")) return true;
  const first = attempts[0]?.at ?? world.time.now();
  const age = world.time.now() - first;
  return honours === true && age > TIMES.keyMemory * 0.9 - TIMES.attempt - TIMES.deadline;
}

/** What is settled is given back from another process: equal, marked, and without a request. */
async function replay(world: World, first: Call, broken: Broken): Promise<void> {
  const before = world.network.sends.length;
  const again = await finish(world, 1, first.spec);
  const sent = world.network.sends.length - before;
  const { outcome } = again;
  const same =
    outcome?.status === first.outcome?.status &&
    outcome?.replayed === true &&
    resultOf(again) === (resultOf(again) && resultOf(first));
  if (sent > 0 || !same) {
    const told = `${first.outcome?.status} ${resultOf(first)}, then ${outcome?.status} ${resultOf(again)}`;
    broken("I6 a replay is equal and sends nothing", `${opOf(first.spec)}: ${told}, ${sent} sent`);
  }
}

const resultOf = ({ outcome }: Call): string | undefined =>
  outcome?.status === "committed" ? outcome.result?.effect : undefined;
