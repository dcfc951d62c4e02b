/**
 * By which tool this process called an operation. Two tools named `notify` with the same arguments are two tools, and
 * the effect of one is no answer to a call of the other.
 *
 * Kept for the latest operations, in this process only: a tool may change from one release to the next.
 *
 * @module
 */

import type { Ref } from "../ledger/ledger.ts";
import { isSameSource, sourceOf } from "./define/source.ts";
import type { Tool } from "./define/tool.ts";

export interface CalledWith {
  /** The first tool that calls an operation is the one it belongs to. */
  note(ref: Ref, tool: Tool): void;
  /** The call left nothing to replay: any tool may make it. */
  forget(ref: Ref): void;
  /** Only asks: whoever lists operations must not make them its own. */
  isOther(ref: Ref, tool: Tool): boolean;
}

const MOST = 10_000;

interface Made {
  readonly service: string;
  readonly source: string;
}

export function createCalledWith(most: number = MOST): CalledWith {
  const made = new WeakMap<Tool, Made>();
  // Two halves, of which the older goes as a whole: one entry at a time would cost every call.
  let newer = new Map<string, Made>();
  let older = new Map<string, Made>();

  function madeBy(tool: Tool): Made {
    const known = made.get(tool);
    if (known) return known;
    const one = { service: tool.service, source: sourceOf(tool.run) };
    made.set(tool, one);
    return one;
  }

  const find = (id: string): Made | undefined => newer.get(id) ?? older.get(id);

  return {
    note({ id }, tool) {
      if (find(id)) return;
      if (newer.size >= most / 2) {
        older = newer;
        newer = new Map();
      }
      newer.set(id, madeBy(tool));
    },
    forget({ id }) {
      newer.delete(id);
      older.delete(id);
    },
    isOther({ id }, tool) {
      const first = find(id);
      if (!first) return false;
      const { service, source } = madeBy(tool);
      return first.service !== service || !isSameSource(first.source, source);
    },
  };
}
