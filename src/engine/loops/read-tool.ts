/**
 * `kind: "read"`: nothing changes in the world, so it is retried freely and leaves no record.
 *
 * @module
 */

import { isResponse, statusOf } from "../../classify/answer.ts";
import { judge } from "../../classify/classify.ts";
import { isRetryableRead } from "../../classify/http.ts";
import type { Json } from "../../key/json.ts";
import { sleep } from "../../lang/clock.ts";
import { within } from "../../lang/time-limit.ts";
import { createToken, runWithToken, wireFacts } from "../../wire/token.ts";
import type { CallOptions } from "../define/definition.ts";
import type { Engine, Tool } from "../engine.ts";
import { tellOperation } from "../outcome/operation-events.ts";
import type { Outcome } from "../outcome/outcome.ts";
import { backoff } from "./backoff.ts";
import { tellRepeats } from "./hidden-retry.ts";
import { PassEnded, repeat } from "./repeat.ts";

export function runRead(
  tool: Tool,
  args: Json,
  options: CallOptions,
  engine: Engine,
): Promise<Outcome<unknown>> {
  const id = engine.newId();
  const facts = { tool: tool.name, id, key: id };
  const taken = () =>
    ({ ...facts, tenant: engine.tenant, scope: "", kind: "read", by: "call" }) as const;
  return tellOperation(taken, engine, () => ask(tool, args, options, id, engine));
}

async function ask(
  tool: Tool,
  args: Json,
  { signal, deadlineMs = tool.deadlineMs }: CallOptions,
  id: string,
  engine: Engine,
): Promise<Outcome<unknown>> {
  const deadlineAt = engine.clock.monotonic() + deadlineMs;
  const facts = { tool: tool.name, id, key: id };
  let wireRequests = 0;
  const common = () => ({
    ...facts,
    replayed: false,
    recorded: true,
    wireRequests,
    at: engine.clock.now(),
  });

  return repeat(
    async (attempt): Promise<Outcome<unknown>> => {
      const left = deadlineAt - engine.clock.monotonic();
      if (signal?.aborted)
        return { ...common(), status: "not_applied", reason: "aborted", attempts: attempt - 1 };
      const stop = new AbortController();
      const giveUp = () => stop.abort();
      signal?.addEventListener("abort", giveUp, { once: true });
      const token = createToken({ operationId: id, attempt });
      const context = { key: id, precondition: undefined, attempt, signal: stop.signal };
      const running = runWithToken(token, async () => tool.run(args, context));
      const inTime = await within(engine.clock, Math.min(tool.attemptTimeoutMs, left), running);
      signal?.removeEventListener("abort", giveUp);
      stop.abort();
      const wire = wireFacts(token);
      wireRequests += wire.wireRequests;
      const about = () => ({ ...facts, tenant: engine.tenant, scope: "", attempt });
      const hidden = tellRepeats(token, about, engine);
      if (hidden) {
        const attempts = attempt;
        return { ...common(), status: "not_applied", reason: "rejected", error: hidden, attempts };
      }
      if (inTime.tag === "done" && !isFailure(inTime.value)) {
        return { ...common(), status: "committed", result: inTime.value, attempts: attempt };
      }
      const error = inTime.tag === "failed" ? inTime.error : undefined;
      const ended =
        inTime.tag === "done"
          ? { ok: true as const, value: inTime.value }
          : { ok: false as const, error };
      const known = { refuses: [], keyed: false, reader: false, own: tool.classify, ...wire };
      const judged = judge(ended, { ...known, now: engine.clock.now() });
      const waitMs = backoff(attempt - 1, judged.retryAfterMs, engine.timing, engine.random);
      const final = judged.verdict === "rejected" || attempt >= tool.attempts;
      if (!final && waitMs < deadlineAt - engine.clock.monotonic()) throw new PassEnded(waitMs);
      // An answer the caller can read, even if it is a no, is theirs.
      if (inTime.tag === "done") {
        return { ...common(), status: "committed", result: inTime.value, attempts: attempt };
      }
      const reason = judged.verdict === "rejected" ? "rejected" : "not_sent";
      const { status, code } = judged;
      return {
        ...common(),
        status: "not_applied",
        reason,
        rejection: { status, code },
        error,
        attempts: attempt,
      };
    },
    (waitMs) => sleep(engine.clock, waitMs, signal),
  );
}

/** A `Response` that says "not now". */
function isFailure(value: unknown): boolean {
  const status = isResponse(value) ? statusOf(value) : undefined;
  return status !== undefined && isRetryableRead(status);
}
