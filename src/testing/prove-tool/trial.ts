/**
 * The trials of a proof: one effect each, fired under one kind of loss, then read.
 *
 * @module
 */

import type { Tool } from "../../engine/define/tool.ts";
import { type Clock, systemClock, withTimeLimit } from "../../lang/clock.ts";
import { createProber, type Probe, type Sent, send } from "./probe.ts";
import type { Cut, CuttingProxy, Passage } from "./proxy.ts";
import { type ProbeRead, type ReadPlan, readOnce, readUntilFound } from "./read-probe.ts";
import type { Ground } from "./sandbox.ts";

/** What was seen of one effect. */
export interface Trial {
  readonly sends: readonly Sent[];
  /** Requests that carry an effect, of all sends; `undefined` without a proxy. */
  readonly requests: number | undefined;
  /** The last status with which the service answered them. */
  readonly status: number | undefined;
  /** Empty without a reader. */
  readonly reads: readonly ProbeRead[];
  /** By the service's own records, when all was over. */
  readonly effects: number | undefined;
}

export interface Trials {
  /** A read of what was never sent; `undefined` without a reader. */
  readonly neverSent: ProbeRead | undefined;
  /** Answered, and sent again with the same key if the tool is keyed. */
  readonly answered: Trial;
  /** These three only with a proxy, and only if an undisturbed call works. */
  readonly lostRequest?: Trial | undefined;
  readonly lostReply?: Trial | undefined;
  readonly lostEarly?: Trial | undefined;
}

interface FiredProbe {
  readonly probe: Probe;
  readonly sends: readonly Sent[];
  readonly passages: readonly Passage[];
}

export async function runTrials(
  tool: Tool,
  ground: Ground,
  proxy: CuttingProxy | undefined,
): Promise<Trials> {
  const { clock, readForMs } = ground;
  const windowMs = tool.commitsWithinMs ?? 0;
  const nextProbe = createProber(tool, ground.args, clock);
  const about = { tool, clock, windowMs, readForMs, owners: new Map<string, string>() };
  const fire = async (cut: Cut, times = 1): Promise<FiredProbe> =>
    fireUnder(cut, times, await nextProbe(), tool, proxy, clock);
  const observe = (fired: FiredProbe | undefined, patienceMs = readForMs) =>
    fired && readAfter(fired, { ...about, readForMs: patienceMs }, ground, proxy !== undefined);

  const unsent = await nextProbe();
  const endedAt = clock.monotonic();
  const neverSent = tool.readState && (await readOnce(unsent, { ...about, endedAt }));
  const answered = await fire("none", tool.keyedForMs === undefined ? 1 : 2);
  const works = proxy !== undefined && answered.sends[0]?.ended.ok === true;
  const lostRequest = works ? await fire("request") : undefined;
  const lostReply = works ? await fire("reply") : undefined;
  const lostEarly = works ? await fire("early") : undefined;
  // Side by side: each read waits for its own window, and a window may be long.
  const trials = await Promise.all([
    observe(answered),
    // What never arrived is not waited for any longer than it could have taken.
    observe(lostRequest, 0),
    observe(lostReply),
    observe(lostEarly),
  ]);
  const [first = NO_TRIAL, second, third, fourth] = trials;
  return {
    neverSent,
    answered: first,
    lostRequest: second,
    lostReply: third,
    lostEarly: fourth,
  };
}

const NO_TRIAL: Trial = {
  sends: [],
  requests: undefined,
  status: undefined,
  reads: [],
  effects: undefined,
};

async function fireUnder(
  cut: Cut,
  times: number,
  probe: Probe,
  tool: Tool,
  proxy: CuttingProxy | undefined,
  clock: Clock,
): Promise<FiredProbe> {
  const passages = proxy?.arm(cut) ?? [];
  const sends: Sent[] = [];
  for (let attempt = 1; attempt <= times; attempt += 1) {
    const sent = await send(tool, probe, attempt, clock);
    sends.push(sent);
    if (!sent.ended.ok) break;
  }
  proxy?.arm("none");
  return { probe, sends, passages };
}

async function readAfter(
  { probe, sends, passages }: FiredProbe,
  about: Omit<ReadPlan, "endedAt">,
  { carriesEffect, countEffects }: Ground,
  proxied: boolean,
): Promise<Trial> {
  const { tool, clock } = about;
  const endedAt = sends.at(-1)?.endedAt ?? clock.monotonic();
  const reads = tool.readState ? await readUntilFound(probe, { ...about, endedAt }) : [];
  const carrying = passages.filter((passage) => passage.cut || carriesEffect(passage));
  const answers = Promise.all(carrying.map(({ answered }) => answered));
  // A service that is still working is given the time of one attempt.
  const inTime = await withTimeLimit(systemClock, tool.attemptTimeoutMs, answers);
  return {
    sends,
    requests: proxied ? carrying.length : undefined,
    status: inTime.tag === "done" ? inTime.value.findLast((status) => status) : undefined,
    reads,
    effects: await count(probe, tool, countEffects),
  };
}

/** What the service's own records say, if it is a number at all. */
async function count(
  { intent, key }: Probe,
  { readTimeoutMs }: Tool,
  countEffects: Ground["countEffects"],
): Promise<number | undefined> {
  if (!countEffects) return undefined;
  const asked = (async () => countEffects(intent, key))();
  const counted = await withTimeLimit(systemClock, readTimeoutMs, asked);
  if (counted.tag !== "done") return undefined;
  const { value } = counted;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
