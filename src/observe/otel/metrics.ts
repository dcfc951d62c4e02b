/**
 * Counters and histograms. Durations are in seconds, as OpenTelemetry requires.
 *
 * @module
 */

import type { HoldfireEvents } from "../events.ts";
import { errorType } from "../redacted.ts";
import type { MeterLike } from "./api.ts";
import { attributes, ERROR_TYPE, ofOutcome, ofVerdict, TOOL } from "./attributes.ts";
import { bounded, type Listening } from "./listening.ts";

/** The buckets of HTTP durations, extended to the default deadline of a call. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const CLIENT = "holdfire.client";

export function countMetrics(on: Listening["on"], meter: MeterLike): void {
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(`holdfire.${name}`, { unit: `{${unit}}`, description });
  const seconds = (name: string, description: string) => {
    const advice = { explicitBucketBoundaries: BUCKETS };
    const histogram = meter.createHistogram(`holdfire.${name}`, { unit: "s", description, advice });
    return (ms: number, of: ReturnType<typeof attributes>) => histogram.record(ms / 1_000, of);
  };
  /** Counts each event of this name, unless `of` returns no attributes. */
  function count<N extends keyof HoldfireEvents>(
    event: N,
    [name, unit, description]: readonly [name: string, unit: string, description: string],
    of: (event: HoldfireEvents[N]) => Parameters<typeof attributes>[0] | undefined,
  ): void {
    const counted = counter(name, unit, description);
    on(event, (happened) => {
      const given = of(happened);
      if (given) counted.add(1, attributes(given));
    });
  }

  const operations = counter("operations", "operation", "Operations that have ended.");
  const operationSeconds = seconds("operation.duration", "How long operations took.");
  on("outcome", (event) => {
    const of = ofOutcome(event);
    operations.add(1, of);
    operationSeconds(event.durationMs, of);
  });

  count("attempt", ["attempts", "attempt", "Firings of tools that write."], (event) => ({
    [TOOL]: event.tool,
    "holdfire.licence": event.licence,
  }));
  const attemptSeconds = seconds("attempt.duration", "How long attempts took, or were waited for.");
  on("verdict", (event) => attemptSeconds(event.durationMs, ofVerdict(event)));

  count(
    "outcome",
    ["replays", "replay", "Known outcomes that were returned without sending."],
    ({ tool, status, replayed, by }) =>
      replayed && by === "call" ? { [TOOL]: tool, "holdfire.outcome": status } : undefined,
  );
  count(
    "outcome",
    ["unknown", "operation", "Operations left unknown."],
    ({ tool, status, reason, replayed }) =>
      status === "unknown" && !replayed
        ? { [TOOL]: tool, "holdfire.outcome.reason": reason }
        : undefined,
  );
  count("duplicate", ["duplicates", "operation", "Effects found more than once."], (event) => ({
    [TOOL]: event.tool,
    "holdfire.source": event.source,
  }));
  count(
    "late",
    ["late_replies", "reply", "Replies that came after the time of their attempt was up."],
    (event) => ({
      [TOOL]: event.tool,
      "holdfire.verdict": event.verdict,
    }),
  );
  count(
    "takeover",
    ["takeovers", "operation", "Operations taken over from another process."],
    ({ tool }) => ({
      [TOOL]: tool,
    }),
  );
  count(
    "approval",
    ["held", "operation", "Operations that wait for a person."],
    ({ tool, status, why }) =>
      status === "asked" ? { [TOOL]: tool, "holdfire.outcome.reason": why } : undefined,
  );
  count(
    "approval",
    ["decisions", "decision", "What became of questions to a person."],
    ({ tool, status }) =>
      status === "asked" ? undefined : { [TOOL]: tool, "holdfire.decision": status },
  );
  count("read", ["reads", "read", "Reads of a service's state."], (event) => ({
    [TOOL]: event.tool,
    "holdfire.reading": event.reading,
  }));
  count("store", ["unrecorded", "operation", "Outcomes not yet written."], (event) =>
    event.status === "unrecorded" ? { [TOOL]: event.tool } : undefined,
  );
  count("store", ["store.errors", "error", "Failures of the ledger's store."], (event) => {
    if (event.status !== "error") return undefined;
    const { step, error } = event;
    return {
      "holdfire.step": step,
      [ERROR_TYPE]: error === undefined ? "timeout" : errorType(error),
    };
  });
  count(
    "drift",
    ["drift.findings", "finding", "Differences between the ledger and a service."],
    (event) => ({
      [TOOL]: event.tool,
      "holdfire.finding": event.finding,
    }),
  );

  const hidden = counter("hidden_retries", "request", "Requests repeated by another layer.");
  const counted = bounded<{ readonly sent: number; readonly refused: number }>();
  on("warning", (event) => {
    if (event.code !== "hidden_retry") return;
    const { tool, id, attempt, method, origin, path, count: sent, refused = 0 } = event;
    // For an attempt whose time is up the warning is repeated when it ends.
    const name = [id, attempt, method, origin, path].join(" ");
    const before = counted.take(name) ?? { sent: 1, refused: 0 };
    counted.put(name, { sent, refused });
    const add = (more: number, stopped: boolean) =>
      more > 0 && hidden.add(more, { [TOOL]: tool, "holdfire.stopped": stopped });
    add(sent - before.sent, false);
    add(refused - before.refused, true);
  });

  const sampleSeconds = seconds("sample.duration", "How long requests of model calls took.");
  on("sample", ({ client, status, durationMs, replayed }) => {
    // Nothing was sent.
    if (replayed) return;
    sampleSeconds(
      durationMs,
      attributes({ [CLIENT]: client, "http.response.status_code": status }),
    );
  });
}
