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

export interface CalledBy {
  /** The first tool that calls an operation is the one it belongs to. */
  note(ref: Ref, tool: Tool): void;
  /** The call left nothing to replay: any tool may make it. */
  forget(ref: Ref): void;
  /** Only asks: whoever lists operations must not make them its own. */
  isOther(ref: Ref, tool: Tool): boolean;
}

const MOST = 10_000;

interface Made {
  readonly name: string;
  readonly service: string;
  readonly source: string;
}

export function createCalledBy(most: number = MOST): CalledBy {
  const made = new WeakMap<Tool, Made>();
  const names = createNames(most);
  // Two halves, of which the older goes as a whole: one entry at a time would cost every call.
  let newer = new Map<string, Made>();
  let older = new Map<string, Made>();

  function madeBy(tool: Tool): Made {
    const known = made.get(tool);
    if (known) return known;
    const one = { name: tool.name, service: tool.service, source: sourceOf(tool.run) };
    made.set(tool, one);
    names.add(one);
    return one;
  }

  const find = (id: string): Made | undefined => newer.get(id) ?? older.get(id);

  return {
    note({ id }, tool) {
      const one = madeBy(tool);
      if (names.isShared(one.name) && find(id)) return;
      if (newer.size >= most / 2) {
        older = newer;
        newer = new Map();
      }
      newer.set(id, one);
    },
    forget({ id }) {
      newer.delete(id);
      older.delete(id);
    },
    isOther({ id }, tool) {
      const { name, service, source } = madeBy(tool);
      // The name is part of what the id was made from: without another tool of this name, no other tool has called it.
      if (!names.isShared(name)) return false;
      const first = find(id);
      return (
        first !== undefined && !(first.service === service && isSameSource(first.source, source))
      );
    },
  };
}

/** Which names more than one tool has. Most processes have none, and need not look for the first caller. */
function createNames(most: number) {
  const first = new Map<string, Made>();
  const shared = new Set<string>();
  let areTooMany = false;

  return {
    add(one: Made): void {
      const known = first.get(one.name);
      if (known === undefined && first.size < most) first.set(one.name, one);
      else if (known === undefined) areTooMany = true;
      // Tools that are built per request are one tool.
      else if (known.service !== one.service || known.source !== one.source) shared.add(one.name);
    },
    isShared: (name: string): boolean => areTooMany || (shared.size > 0 && shared.has(name)),
  };
}
