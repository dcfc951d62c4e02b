/**
 * Asks the person at the terminal, a line at a time.
 *
 * What was typed before the question was shown is discarded: a yes counts only for what the person has seen.
 *
 * @module
 */

import { createInterface } from "node:readline";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Terminal } from "../terminal.ts";

export interface Person {
  /** The line, without white space around it; `undefined` when they are gone (Ctrl-C, Ctrl-D). */
  ask(question: string): Promise<string | undefined>;
  leave(): void;
}

const LONGEST = 2_000;
const MOST_TURNS = 10_000;

export function personAt({ input, write, signal }: Terminal): Person {
  // The terminal itself echoes and edits: Ctrl-C stays a signal.
  const lines = createInterface({ input, terminal: false });
  let gone = false;
  let waiting: ((line: string | undefined) => void) | undefined;
  let heard = 0;
  const hear = (line: string | undefined) => {
    heard += 1;
    waiting?.(line);
    waiting = undefined;
  };
  /** A terminal gives a line a turn: goes on until there is none left. */
  const forgetTyped = async () => {
    for (let before = -1, turns = 0; before !== heard && turns < MOST_TURNS; turns += 1) {
      before = heard;
      await nextTurn();
    }
  };
  const end = () => {
    gone = true;
    hear(undefined);
  };
  lines.on("line", hear);
  lines.on("close", end);
  signal.addEventListener("abort", end, { once: true });
  return {
    async ask(question) {
      await forgetTyped();
      if (gone || signal.aborted) return undefined;
      write(question);
      return new Promise((resolve) => {
        waiting = (line) => resolve(line?.trim().slice(0, LONGEST));
      });
    },
    leave() {
      signal.removeEventListener("abort", end);
      lines.close();
    },
  };
}
