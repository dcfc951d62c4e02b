/**
 * Writes down what a process sends, as it happens, so that one that is killed has written what it did; and decides
 * which write of the run is hit.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Line, Send } from "../log.ts";
import type { Fault, Orders } from "../orders.ts";
import { factsOf, type Outgoing } from "./request-facts.ts";
import { captureOrigin, type Origin, rememberCauses } from "./stack.ts";

/** Who sends, known when a request is made and not when it leaves. */
export interface Sender extends Origin {
  readonly n: number;
}

/** A reply that is to be broken. */
export interface Hit {
  readonly fault: Fault;
  readonly slowMs: number;
  /** It has been. */
  broken(): void;
}

export interface Journal {
  /** To be called where the request is made. */
  sender(): Sender;
  /** It has been sent, whole. Returns what becomes of its reply, if it is hit. */
  sent(request: Outgoing, sender: Sender, more?: Pick<Send, "isRelay">): Hit | undefined;
  note(line: Line): void;
}

const MOST_LINES = 50_000;

const now = (): number => performance.timeOrigin + performance.now();

export function openJournal(orders: Orders): Journal {
  const { folder, fault, nth, slowMs } = orders;
  const causes = rememberCauses();
  let file: number | undefined;
  let lines = 0;
  let made = 0;
  let writes = 0;

  function note(line: Line): void {
    lines += 1;
    if (lines > MOST_LINES) return;
    if (file === undefined) {
      // Opened at the first request: most processes make none.
      file = openSync(join(folder, `${process.pid}-${randomUUID()}.jsonl`), "wx", 0o600);
      note({ tag: "start", pid: process.pid, parent: process.ppid, at: performance.timeOrigin });
    }
    writeSync(file, `${JSON.stringify(line)}\n`);
  }

  /** The number of a write among those of all processes: whoever makes the file first has it. */
  function claimNumber(): number {
    for (;;) {
      writes += 1;
      try {
        closeSync(openSync(join(folder, `write-${writes}`), "wx", 0o600));
        return writes;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      }
    }
  }

  return {
    note,
    sender() {
      made += 1;
      return { n: made, ...captureOrigin(causes) };
    },
    sent(request, { n, stack, causes: by }, more) {
      const facts = factsOf(request, orders);
      const write = facts.kind === "write" ? claimNumber() : undefined;
      note({ tag: "send", n, at: now(), ...facts, write, stack, causes: by, ...more });
      if (fault === undefined || write !== nth) return undefined;
      return { fault, slowMs, broken: () => note({ tag: "broken", n, fault, at: now() }) };
    },
  };
}
