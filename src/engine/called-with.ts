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
  /** Whether another tool has called the operation. The first one that calls it is the one it belongs to. */
  isOther(ref: Ref, tool: Tool): boolean;
  /** The call left nothing to replay: any tool may make it. */
  forget(ref: Ref): void;
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

  function note(id: string, one: Made): void {
    if (newer.size >= most / 2) {
      older = newer;
      newer = new Map();
    }
    newer.set(id, one);
  }

  return {
    forget({ id }) {
      newer.delete(id);
      older.delete(id);
    },
    isOther({ id }, tool) {
      const one = madeBy(tool);
      const first = newer.get(id) ?? older.get(id);
      if (!first) note(id, one);
      if (!first || first === one) return false;
      return first.service !== one.service || !isSameSource(first.source, one.source);
    },
  };
}
