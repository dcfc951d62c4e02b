/**
 * `hf.driftReport`: compares what the ledger says was done with what the services have now. It reports;
 * it repairs nothing and changes no record. (A call that departs from an earlier one is the other drift:
 * `src/gate/drift.ts`.)
 *
 * @module
 */

import { checkOptions } from "../engine/define/check.ts";
import { type Engine, inBackground } from "../engine/engine.ts";
import { askStore, listEveryRecord } from "../engine/store-call.ts";
import { ClosedError, InvalidInputError } from "../errors.ts";
import type { Stored } from "../ledger/record.ts";
import { type BlindFinding, createAbsences } from "./check-reader.ts";
import { type CommittedFinding, compare, type NotCompared } from "./compare.ts";
import type { UnexpectedFinding } from "./effects-under-keys.ts";
import { fewAtATime } from "./few-at-a-time.ts";
import { type Coverage, type ForeignFinding, findForeign } from "./foreign.ts";
import {
  checkLimit,
  checkTime,
  chosenTools,
  listenerOf,
  type ToolChoice,
  type Tools,
} from "./options.ts";
import { isOfProgram, isOfService } from "./recall-operation.ts";

export interface DriftOptions {
  /** Only these tools. @default all tools made by `hf.tool` */
  readonly tools?: readonly ToolChoice[] | undefined;
  /** From when on, in milliseconds since the epoch. @default 24 hours ago */
  readonly since?: number | undefined;
  /** Up to when. @default now */
  readonly until?: number | undefined;
  /** How many committed operations to read at most. @default 1_000 */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called after every operation that was checked. What it throws is ignored. */
  readonly onProgress?: ((progress: DriftProgress) => void) | undefined;
}

export interface DriftProgress {
  readonly checked: number;
  readonly findings: number;
}

/** A difference between the ledger and a service. Nothing is repaired. */
export type DriftFinding = CommittedFinding | BlindFinding | UnexpectedFinding | ForeignFinding;

/** What was checked for one tool. */
export interface DriftCoverage {
  readonly tool: string;
  /** With `readState`: gone, duplicated; `"cannot_tell"`: the reader is blind. */
  readonly effects: Coverage;
  /** With `effect.same`: changed. */
  readonly changes: Coverage;
  /** With `effect.list`: foreign, unexpected. */
  readonly foreign: Coverage;
}

export interface DriftReport {
  /** `"limit"`: there are more committed operations in this span; ask for a shorter one. */
  readonly ended: "done" | "limit" | "stopped";
  readonly since: number;
  readonly until: number;
  /** Committed operations whose reader was asked. */
  readonly checked: number;
  /** Each difference once. */
  readonly findings: readonly DriftFinding[];
  readonly notCompared: readonly NotCompared[];
  readonly tools: readonly DriftCoverage[];
}

const OPTIONS = ["tools", "since", "until", "limit", "signal", "onProgress"];
const DAY_MS = 24 * 3_600_000;
const PAGE = 100;

export async function driftReport(
  options: DriftOptions,
  tools: Tools,
  engine: Engine,
): Promise<DriftReport> {
  if (engine.isClosed()) throw new ClosedError();
  checkOptions(options, OPTIONS, "driftReport");
  const reporting = makeReport(options, tools, engine);
  inBackground(engine, () => reporting.catch(() => {}));
  return reporting;
}

async function makeReport(
  options: DriftOptions,
  tools: Tools,
  engine: Engine,
): Promise<DriftReport> {
  const limit = checkLimit(options.limit, "driftReport");
  const tell = listenerOf(options.onProgress, "driftReport");
  const chosen = chosenTools(options.tools, tools, "driftReport");
  const { signal } = options;
  const asked = {
    until: checkTime(options.until, "driftReport.until"),
    since: checkTime(options.since, "driftReport.since"),
  };
  const { ledger, tenant, events } = engine;
  await askStore(engine, "open", ledger.open());
  const until = asked.until ?? ledger.clock.latest() + 1;
  const since = asked.since ?? until - DAY_MS;
  if (since >= until) throw new InvalidInputError("driftReport.since", "must be before until.");

  const mayGoOn = () => !signal?.aborted && !engine.isClosed();
  const findings: DriftFinding[] = [];
  const notCompared: NotCompared[] = [];
  const known = new Set<string>();
  const nameOf = (service: string, effectId: string) => `${service.length}:${service}${effectId}`;
  let checked = 0;
  const absences = createAbsences(until, engine);
  const report = (found: DriftFinding): void => {
    findings.push(found);
    const { finding, tool } = found;
    const id = "id" in found ? found.id : undefined;
    const effectId = "effectId" in found ? found.effectId : undefined;
    events.emit("drift", () => ({ tenant, finding, tool, id, effectId }));
  };

  const check = async ({ record }: Stored): Promise<void> => {
    const { state, service } = record;
    const tool = chosen.get(record.tool);
    if (state.tag !== "committed" || !tool) return;
    if (!isOfProgram(record, engine) || !isOfService(record, tool)) return;
    const compared = await compare(record, state, tool, engine);
    for (const effectId of compared.effectIds) known.add(nameOf(service, effectId));
    if (compared.found) absences.found(tool);
    if (compared.finding?.finding === "gone") absences.missed(tool, compared.finding, record);
    else if (compared.finding) report(compared.finding);
    if (compared.notCompared) notCompared.push(compared.notCompared);
    if (tool.readState) checked += 1;
    tell({ checked, findings: findings.length });
  };

  let ended: DriftReport["ended"] = "done";
  let cursor: string | undefined;
  do {
    const left = limit - checked;
    if (!mayGoOn() || left <= 0) {
      ended = left <= 0 ? "limit" : "stopped";
      break;
    }
    const size = Math.min(PAGE, left);
    const query = { states: ["committed"] as const, cursor, limit: size, since, until };
    const page = await listEveryRecord(engine, query);
    await fewAtATime(page.items, check, mayGoOn);
    ({ cursor } = page);
  } while (cursor !== undefined);

  const absent = await absences.judge(mayGoOn);
  for (const finding of absent.findings) report(finding);
  notCompared.push(...absent.notCompared);

  const coverage: DriftCoverage[] = [];
  const isKnown = (service: string, effectId: string) => known.has(nameOf(service, effectId));
  for (const tool of chosen.values()) {
    if (tool.kind === "read") continue;
    const span = { since, until };
    const foreign = await findForeign(tool, span, isKnown, mayGoOn, engine);
    for (const finding of foreign.findings) report(finding);
    // Tools of one service may list the same effects.
    for (const effectId of foreign.effectIds) known.add(nameOf(tool.service, effectId));
    const checked = absences.isBlind(tool) ? "cannot_tell" : "checked";
    coverage.push({
      tool: tool.name,
      effects: tool.readState ? checked : "not_checked",
      changes: tool.readState && tool.effect.same ? checked : "not_checked",
      foreign: foreign.coverage,
    });
  }
  if (!mayGoOn()) ended = "stopped";
  return { ended, since, until, checked, findings, notCompared, tools: coverage };
}
