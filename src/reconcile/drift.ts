/**
 * `hf.driftReport`: what the ledger says was done, beside what is there now. It signals; it repairs
 * nothing, and no record changes.
 *
 * @module
 */

import { checkOptions } from "../engine/define/check.ts";
import { type Engine, inBackground } from "../engine/engine.ts";
import { askStore } from "../engine/store-call.ts";
import { ClosedError, InvalidInputError } from "../errors.ts";
import type { Stored } from "../ledger/record.ts";
import { atOnce } from "./at-once.ts";
import { compare } from "./compare.ts";
import type {
  DriftCoverage,
  DriftFinding,
  DriftOptions,
  DriftReport,
  NotCompared,
} from "./drift-report.ts";
import { findForeign } from "./foreign.ts";
import { checkLimit, checkTime, chosenTools, listenerOf, type Tools } from "./options.ts";

const OPTIONS = ["tools", "since", "until", "limit", "signal", "onProgress"];
const DAY_MS = 24 * 3_600_000;
const PAGE = 100;
const AT_ONCE = 8;

export async function driftReport(
  options: DriftOptions,
  tools: Tools,
  engine: Engine,
): Promise<DriftReport> {
  if (engine.isClosed()) throw new ClosedError();
  checkOptions(options, OPTIONS, "driftReport");
  const looking = look(options, tools, engine);
  inBackground(engine, () => looking.catch(() => {}));
  return looking;
}

async function look(options: DriftOptions, tools: Tools, engine: Engine): Promise<DriftReport> {
  const limit = checkLimit(options.limit, "driftReport");
  const tell = listenerOf(options.onProgress, "driftReport");
  const chosen = chosenTools(options.tools, tools, "driftReport");
  const { ledger, tenant, events } = engine;
  await askStore(engine, "open", ledger.open());
  const until = checkTime(options.until, "driftReport.until") ?? ledger.clock.latest() + 1;
  const since = checkTime(options.since, "driftReport.since") ?? until - DAY_MS;
  if (since >= until) throw new InvalidInputError("driftReport.since", "must be before until");

  const { signal } = options;
  const mayGoOn = () => !signal?.aborted && !engine.isClosed();
  const findings: DriftFinding[] = [];
  const notCompared: NotCompared[] = [];
  const known = new Set<string>();
  const nameOf = (service: string, effectId: string) => `${service.length}:${service}${effectId}`;
  let looked = 0;
  const find = (finding: DriftFinding): void => {
    findings.push(finding);
    const { tool, effectId } = finding;
    const id = finding.finding === "foreign" ? undefined : finding.id;
    events.emit("drift", () => ({ tenant, finding: finding.finding, tool, id, effectId }));
  };

  const lookAt = async ({ record }: Stored): Promise<void> => {
    const { state, service } = record;
    const tool = chosen.get(record.tool);
    if (state.tag !== "committed" || !tool) return;
    const compared = await compare(record, state, tool, engine);
    for (const effectId of compared.effectIds) known.add(nameOf(service, effectId));
    if (compared.finding) find(compared.finding);
    if (compared.notCompared) notCompared.push(compared.notCompared);
    if (tool.readState) looked += 1;
    tell({ looked, findings: findings.length });
  };

  let ended: DriftReport["ended"] = "done";
  let cursor: string | undefined;
  do {
    const left = limit - looked;
    if (!mayGoOn() || left <= 0) {
      ended = left <= 0 ? "limit" : "stopped";
      break;
    }
    const size = Math.min(PAGE, left);
    const query = { tenant, states: ["committed"] as const, cursor, limit: size, since, until };
    const page = await askStore(engine, "list", ledger.store.list(query));
    await atOnce(AT_ONCE, page.items, lookAt, mayGoOn);
    ({ cursor } = page);
  } while (cursor !== undefined);

  const coverage: DriftCoverage[] = [];
  const isKnown = (service: string, effectId: string) => known.has(nameOf(service, effectId));
  for (const tool of chosen.values()) {
    if (tool.kind === "read") continue;
    const span = { since, until };
    const foreign = await findForeign(tool, span, isKnown, mayGoOn, engine);
    for (const finding of foreign.findings) {
      find(finding);
      // Tools of one service may list the same effects.
      known.add(nameOf(finding.service, finding.effectId));
    }
    coverage.push({
      tool: tool.name,
      effects: tool.readState ? "looked" : "not looked",
      changes: tool.readState && tool.sameEffect ? "looked" : "not looked",
      foreign: foreign.coverage,
    });
  }
  if (!mayGoOn()) ended = "stopped";
  return { ended, since, until, looked, findings, notCompared, tools: coverage };
}
