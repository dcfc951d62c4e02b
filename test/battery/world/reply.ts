/** What the simulated service says, and the shapes in which a tool's `run` passes it on. */

import type { Verdict } from "../../../src/ledger/record.ts";

export interface Result {
  readonly effect: string;
  readonly op: string;
}

export type Said = "yes" | "no" | "refused" | "nothing" | "error";

export type Reply =
  | { readonly said: "yes"; readonly result: Result; readonly poison?: "circular" | "bigint" }
  | { readonly said: Exclude<Said, "yes">; readonly error: unknown };

export type Failure = "reset" | "not-sent" | "refused" | "rejected" | "error" | "busy" | "running";

/** Judged by structure, as a real tool would: by the word in `sim`, not by any message. */
const VERDICTS: Readonly<Record<string, Verdict>> = {
  "not-sent": "not_sent",
  refused: "refused",
  rejected: "rejected",
};

const SAID: Readonly<Record<Failure, Exclude<Said, "yes">>> = {
  reset: "nothing",
  "not-sent": "refused",
  refused: "refused",
  rejected: "no",
  error: "error",
  busy: "nothing",
  running: "nothing",
};

export function failure(sim: Failure, status?: number): Extract<Reply, { error: unknown }> {
  const headers = sim === "busy" ? { "retry-after": "3" } : {};
  const error = Object.assign(new Error("simulated"), { sim, headers }, status ? { status } : {});
  return { said: SAID[sim], error };
}

export const classify = (error: unknown): Verdict | undefined =>
  VERDICTS[String((error as { readonly sim?: unknown } | null)?.sim)];

/** What `run` resolves with, or one of the odd things that it may reject with. */
export function answerOf(odd: "null" | "frozen" | "hostile"): Extract<Reply, { error: unknown }>;
export function answerOf(reply: Extract<Reply, { said: "yes" }>): unknown;
export function answerOf(given: "null" | "frozen" | "hostile" | Extract<Reply, { said: "yes" }>): unknown {
  if (given === "null") return { said: "nothing", error: null };
  if (given === "frozen") return { said: "nothing", error: Object.freeze({ odd: true }) };
  if (given === "hostile") return { said: "nothing", error: hostile() };
  if (given.poison === "bigint") return { ...given.result, amount: 10n };
  if (given.poison === "circular") {
    const loop: Record<string, unknown> = { ...given.result };
    loop["self"] = loop;
    return loop;
  }
  return given.result;
}

const hostile = (): object =>
  new Proxy(
    {},
    {
      get() {
        throw new Error("do not look at me");
      },
    },
  );
