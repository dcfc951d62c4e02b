/** What the simulated service says, and the shapes in which a tool's `run` passes it on. */

import type { Verdict } from "../../../src/reasons.ts";

export interface Result {
  readonly effect: string;
  readonly op: string;
}

export type Said = "yes" | "no" | "refused" | "nothing" | "error";

export type Reply =
  | { readonly said: "yes"; readonly result: Result; readonly poison?: "circular" | "bigint" }
  | { readonly said: Exclude<Said, "yes">; readonly error: unknown };

export type Failure = "reset" | "not-sent" | "refused" | "rejected" | "error" | "busy" | "running";

/** JudgeFacts by structure, as a real tool would: by the word in `sim`, not by any message. */
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

/** The status line of an answer; without one, the connection breaks. */
export function statusOf(reply: Reply): number | undefined {
  if (reply.said === "yes") return 200;
  const { error } = reply;
  // What is odd is no answer of a service, and some of it must not be looked at.
  return error instanceof Error && "status" in error ? Number(error.status) : undefined;
}

export const classify = (error: unknown): Verdict | undefined =>
  VERDICTS[String((error as { readonly sim?: unknown } | null)?.sim)];

/** Things that no service says and that `run` may reject with all the same. */
export function odd(what: "null" | "frozen" | "hostile"): Extract<Reply, { error: unknown }> {
  const thrown = { null: null, frozen: Object.freeze({ odd: true }), hostile: hostile() };
  return { said: "nothing", error: thrown[what] };
}

/** What `run` resolves with. */
export function resultOf({ result, poison }: Extract<Reply, { said: "yes" }>): unknown {
  if (poison === "bigint") return { ...result, amount: 10n };
  if (poison !== "circular") return result;
  const loop: Record<string, unknown> = { ...result };
  return Object.assign(loop, { self: loop });
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
