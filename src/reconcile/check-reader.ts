/**
 * Checks a reader before its *absent* counts. A process with the wrong account finds nothing, and every lost reply would
 * look like an absence, and every commit like one that is gone. So the reader is first asked about commits that are known.
 *
 * @module
 */

import type { Tool } from "../engine/define/tool.ts";
import type { Engine } from "../engine/engine.ts";
import type { Operation } from "../engine/operation/operation.ts";
import { askReader, markReaderBlind } from "../engine/reader.ts";
import { listRecords } from "../engine/store-call.ts";
import type { OperationRecord, Stored } from "../ledger/record.ts";
import type { ListQuery } from "../ledger/store.ts";
import type { GoneFinding, NotCompared } from "./compare.ts";
import { isOfProgram, isOfService, recallSettled } from "./recall-operation.ts";

const DAY_MS = 24 * 3_600_000;
/** One effect may have been deleted since; it is unlikely that all of so many were. */
const ENOUGH = 3;
/** So many pages are looked through for commits of this program. */
const MOST_PAGES = 20;

/** Checks each tool once. A reader that finds none of the known commits loses the `absent` licence. */
export function createReaderCheck(engine: Engine): (tool: Tool) => Promise<unknown> {
  const checks = new Map<string, Promise<unknown>>();
  return (tool) => {
    const { readState, commitsWithinMs, learned } = tool;
    if (!readState || commitsWithinMs === undefined || learned.readerChecked) {
      return Promise.resolve();
    }
    const checking = checks.get(tool.name) ?? checkReader(tool, engine);
    checks.set(tool.name, checking);
    return checking;
  };
}

/**
 * Whether it finds one of the commits since `committedSince`, by default of the last day. If it finds none of them, it is
 * blind.
 */
async function checkReader(tool: Tool, engine: Engine, committedSince?: number): Promise<boolean> {
  const now = engine.ledger.clock.earliest();
  const query = {
    states: ["committed"],
    tool: tool.name,
    since: committedSince ?? now - DAY_MS,
    // A reader may lag by as much as the tool declares.
    until: now - (tool.commitsWithinMs ?? 0),
    limit: ENOUGH,
  } as const;
  const items = await firstOfTool(query, tool, engine);
  let missed: Operation | undefined;
  for (const { record } of items) {
    const operation = recallSettled(record, tool, () => {});
    const reading = await askReader(operation, record, tool.readTimeoutMs, engine, {
      tag: "has_its_own",
      effectId: undefined,
    });
    if (reading.reading === "cannot_tell") continue;
    if (reading.reading !== "absent") {
      tool.learned.readerChecked = true;
      return true;
    }
    missed = operation;
  }
  if (missed) markReaderBlind(missed, engine);
  return false;
}

/** The first page on which this tool of this program has any: a ledger may be shared with others. */
async function firstOfTool(
  query: Omit<ListQuery, "tenant">,
  tool: Tool,
  engine: Engine,
): Promise<readonly Stored[]> {
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const found = await listRecords(engine, { ...query, cursor });
    const own = found.items.filter(
      ({ record }) => isOfProgram(record, engine) && isOfService(record, tool),
    );
    if (own.length > 0 || found.cursor === undefined) return own;
    ({ cursor } = found);
  }
  return [];
}

/** The reader of this tool finds none of the commits that are known, so it cannot tell what is gone. */
export interface BlindFinding {
  readonly finding: "reader_blind";
  readonly tool: string;
  /** How many committed operations it did not find. */
  readonly missed: number;
}

interface Judged {
  readonly findings: readonly (GoneFinding | BlindFinding)[];
  readonly notCompared: readonly NotCompared[];
}

interface Absences {
  /** The reader has found a commit, so it sees. */
  found(tool: Tool): void;
  missed(tool: Tool, gone: GoneFinding, record: OperationRecord): void;
  /** For each tool: all gone, or its reader blind. */
  judge(mayGoOn: () => boolean): Promise<Judged>;
  isBlind(tool: Tool): boolean;
}

interface Missing {
  readonly gone: readonly GoneFinding[];
  /** One of them. */
  readonly record: OperationRecord;
}

/**
 * What the readers of a drift report did not find: gone, or not seen by a blind reader, which is one finding.
 * `spanEnd`: where the span of the report ends. Whether a reader sees is asked of commits since then.
 */
export function createAbsences(spanEnd: number, engine: Engine): Absences {
  const seeing = new Set<Tool>();
  const blind = new Set<Tool>();
  const missing = new Map<Tool, Missing>();

  async function sees(tool: Tool, { gone, record }: Missing): Promise<boolean> {
    const { learned } = tool;
    if (seeing.has(tool)) return true;
    if (learned.readerBlind) return false;
    // One or two may have been deleted; it is unlikely that all of many were.
    if (learned.readerChecked && gone.length < ENOUGH) return true;
    if (await checkReader(tool, engine, spanEnd)) return true;
    if (!learned.readerBlind)
      markReaderBlind(
        recallSettled(record, tool, () => {}),
        engine,
      );
    return false;
  }

  return {
    found: (tool) => void seeing.add(tool),
    missed(tool, gone, record) {
      const before = missing.get(tool)?.gone ?? [];
      missing.set(tool, { gone: [...before, gone], record });
    },
    async judge(mayGoOn) {
      const findings: (GoneFinding | BlindFinding)[] = [];
      const notCompared: NotCompared[] = [];
      for (const [tool, absent] of missing) {
        const { gone } = absent;
        const doubted = (why: string) =>
          gone.map(({ tool: name, id, key }) => ({ tool: name, id, key, why }));
        if (!mayGoOn() && !seeing.has(tool)) {
          notCompared.push(...doubted("reader_unchecked"));
        } else if (await sees(tool, absent)) {
          findings.push(...gone);
        } else {
          blind.add(tool);
          findings.push({ finding: "reader_blind", tool: tool.name, missed: gone.length });
          notCompared.push(...doubted("reader_blind"));
        }
      }
      return { findings, notCompared };
    },
    isBlind: (tool) => blind.has(tool),
  };
}
