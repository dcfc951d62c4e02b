/**
 * `kind: "read"`: nothing changes in the world, so it is retried freely and leaves no record.
 *
 * @module
 */

import { isResponse, statusOf } from "../../classify/answer.ts";
import { type Ended, judge } from "../../classify/classify.ts";
import { failureOf } from "../../classify/failure.ts";
import { isRetryableRead } from "../../classify/http.ts";
import type { Json } from "../../key/json.ts";
import { sleep, withTimeLimit } from "../../lang/clock.ts";
import { answersOf, wireFacts } from "../../wire/token.ts";
import { contextFrom } from "../attempt-context.ts";
import { backoff } from "../backoff.ts";
import type { Tool } from "../define/tool.ts";
import type { Engine } from "../engine.ts";
import { fireAndWait, warnOfRepeats } from "../fire-once.ts";
import type { Caller } from "../operation/operation.ts";
import type { Outcome } from "../operation/outcome.ts";
import { announced } from "../outcome/announce.ts";
import { commonFrom } from "../outcome/build.ts";
import { redactFailure } from "../outcome/failure.ts";
import { thrownWords } from "../outcome/failure-words.ts";
import { whyNotApplied } from "../outcome/words.ts";
import { type Pass, repeat } from "../passes.ts";

export function runRead(
  tool: Tool,
  args: Json,
  caller: Caller,
  engine: Engine,
): Promise<Outcome<unknown>> {
  const id = engine.newId();
  const begun = () =>
    ({
      tool: tool.name,
      id,
      key: id,
      tenant: engine.tenant,
      scope: "",
      kind: "read",
      by: "call",
    }) as const;
  return announced(begun, engine, () => askUntilAnswered(tool, args, caller, id, engine));
}

async function askUntilAnswered(
  tool: Tool,
  args: Json,
  { signal, deadlineMs }: Caller,
  id: string,
  engine: Engine,
): Promise<Outcome<unknown>> {
  const { clock } = engine;
  const deadlineAt = clock.monotonic() + deadlineMs;
  const facts = { tool: tool.name, id, key: id };
  let wireRequests = 0;
  const common = (attempts: number) =>
    commonFrom(facts, { wireRequests, attempts, at: clock.now() });

  const ask = async (attempt: number): Promise<Pass<Outcome<unknown>>> => {
    const left = deadlineAt - clock.monotonic();
    if (signal?.aborted) {
      return done({ ...common(attempt - 1), status: "not_applied", reason: "aborted" });
    }
    const { token, ended, stop } = fireAndWait({
      operationId: id,
      attempt,
      stopped: signal,
      run: (signal, token) => tool.run(args, contextFrom({ key: id, attempt, signal, token })),
    });
    const inTime = await withTimeLimit(clock, Math.min(tool.attemptTimeoutMs, left), ended);
    stop();
    const wire = wireFacts(token);
    wireRequests += wire.wireRequests;
    const about = () => ({ ...facts, tenant: engine.tenant, scope: "", attempt });
    const hidden = warnOfRepeats(token, about, engine);
    if (hidden) {
      return done({ ...common(attempt), status: "not_applied", reason: "rejected", error: hidden });
    }
    const answer: Ended<unknown> =
      inTime.tag === "done" ? inTime.value : { ok: false, error: undefined };
    if (answer.ok && !isFailure(answer.value)) {
      return done({ ...common(attempt), status: "committed", result: answer.value });
    }
    const sight = { requests: answersOf(token), isPartial: false };
    const { classify } = tool;
    const known = { refuses: [], keyed: false, reader: false, viaHttp: false, classify };
    const judged = judge(answer, { ...known, sight, now: clock.now() });
    const waitMs = backoff(attempt - 1, judged.retryAfterMs, engine.timing, engine.random);
    const final = judged.verdict === "rejected" || attempt >= tool.attempts;
    if (!final && waitMs < deadlineAt - clock.monotonic()) return { tag: "wait", waitMs };
    // An answer the caller can read, even if it is a no, is theirs.
    if (answer.ok) return done({ ...common(attempt), status: "committed", result: answer.value });
    const { status, code } = judged;
    const told = {
      reason: judged.verdict === "rejected" ? "rejected" : "unanswered",
      rejection: { status, code },
      answered: status,
    } as const;
    const { error } = answer;
    const thrown = inTime.tag === "done" ? judged.thrown : undefined;
    const failure = redactFailure(failureOf(thrown, undefined), tool.name, engine.codec);
    const because = whyNotApplied(told, { wireRequests: wire.wireRequests }, failure);
    const threw = thrownWords(failure);
    return done({ ...common(attempt), status: "not_applied", ...told, because, threw, error });
  };
  return repeat(ask, (waitMs) => sleep(clock, waitMs, signal));
}

const done = (value: Outcome<unknown>): Pass<Outcome<unknown>> => ({ tag: "done", value });

/** A `Response` that says "not now". */
function isFailure(value: unknown): boolean {
  const status = isResponse(value) ? statusOf(value) : undefined;
  return status !== undefined && isRetryableRead(status);
}
