/**
 * What the readers of a drift report did not find: gone, or not seen by a reader that looks into the wrong account. A
 * reader that finds none of the commits it is asked for is blind, and that is one finding.
 *
 * @module
 */

import type { Tool } from "../engine/define/tool.ts";
import type { Engine } from "../engine/engine.ts";
import { markReaderBlind } from "../engine/reader.ts";
import type { OperationRecord } from "../ledger/record.ts";
import { checkReader, ENOUGH } from "./check-reader.ts";
import type { GoneFinding, NotCompared } from "./compare.ts";
import { recallSettled } from "./recall-operation.ts";

/** The reader of this tool finds none of the commits that are known, so it cannot tell what is gone. */
export interface BlindFinding {
  readonly finding: "reader_blind";
  readonly tool: string;
  /** How many committed operations it did not find. */
  readonly missed: number;
}

export interface Judged {
  readonly findings: readonly (GoneFinding | BlindFinding)[];
  readonly notCompared: readonly NotCompared[];
}

export interface Absences {
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

/** `spanEnd`: where the span of the report ends. Whether a reader sees is asked of commits since then. */
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
