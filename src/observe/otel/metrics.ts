/**
 * Counters and histograms. Durations are in seconds, as OpenTelemetry has them.
 *
 * @module
 */

import type { HoldfireEvents } from "../events.ts";
import { errorType } from "../failure.ts";
import type { MeterLike } from "./api.ts";
import { attributes, ERROR_TYPE, ofOutcome, ofTimeout, ofVerdict, TOOL } from "./attributes.ts";
import type { Listening } from "./listening.ts";

/** As for HTTP durations, and up to the default deadline of a call. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

const TOKENS = "gen_ai.token.type";
const CLIENT = "holdfire.client";

export function countMetrics(on: Listening["on"], meter: MeterLike): void {
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(`holdfire.${name}`, { unit: `{${unit}}`, description });
  const seconds = (name: string, description: string) => {
    const advice = { explicitBucketBoundaries: BUCKETS };
    const histogram = meter.createHistogram(`holdfire.${name}`, { unit: "s", description, advice });
    return (ms: number, of: ReturnType<typeof attributes>) => histogram.record(ms / 1_000, of);
  };
  /** One for each event of this name. */
  function count<N extends keyof HoldfireEvents>(
    event: N,
    [name, unit, description]: readonly [name: string, unit: string, description: string],
    of: (event: HoldfireEvents[N]) => Parameters<typeof attributes>[0],
  ): void {
    const counted = counter(name, unit, description);
    on(event, (happened) => counted.add(1, attributes(of(happened))));
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
  const gaveUp = bounded<true>();
  on("timed_out", (event) => {
    gaveUp.put(`${event.id} ${event.attempt}`, true);
    attemptSeconds(event.durationMs, ofTimeout(event));
  });
  on("verdict", (event) => {
    const counted = gaveUp.take(`${event.id} ${event.attempt}`);
    if (!counted) attemptSeconds(event.durationMs, ofVerdict(event));
  });

  count("replay", ["replays", "replay", "Known outcomes given back; nothing sent."], (event) => ({
    [TOOL]: event.tool,
    "holdfire.outcome": event.status,
  }));
  count("unknown", ["unknown", "operation", "Operations left unknown."], (event) => ({
    [TOOL]: event.tool,
    "holdfire.outcome.reason": event.reason,
  }));
  count("duplicate", ["duplicates", "operation", "Effects found more than once."], (event) => ({
    [TOOL]: event.tool,
    "holdfire.source": event.source,
  }));
  count(
    "late",
    ["late_replies", "reply", "Replies after their attempt was given up."],
    (event) => ({
      [TOOL]: event.tool,
      "holdfire.verdict": event.verdict,
    }),
  );
  count("takeover", ["takeovers", "operation", "Operations of lost owners."], ({ tool }) => ({
    [TOOL]: tool,
  }));
  count("held", ["held", "operation", "Operations that wait for a person."], (event) => ({
    [TOOL]: event.tool,
    "holdfire.outcome.reason": event.why,
  }));
  count("reading", ["readings", "reading", "Looks at the state of a service."], (event) => ({
    [TOOL]: event.tool,
    "holdfire.reading": event.reading,
  }));
  count("unrecorded", ["unrecorded", "operation", "Outcomes not yet written."], ({ tool }) => ({
    [TOOL]: tool,
  }));
  count("store_error", ["store.errors", "error", "Failures of the ledger's store."], (event) => ({
    "holdfire.step": event.step,
    [ERROR_TYPE]: event.error === undefined ? "timeout" : errorType(event.error),
  }));
  count("drift", ["drift.findings", "finding", "Effects not as the ledger has them."], (event) => ({
    [TOOL]: event.tool,
    "holdfire.finding": event.finding,
  }));

  const hidden = counter("hidden_retries", "request", "Requests repeated by somebody beside us.");
  const told = bounded<{ readonly sent: number; readonly refused: number }>();
  on("hidden_retry", (event) => {
    const { tool, id, attempt, method, origin, path, count: sent, refused = 0 } = event;
    // Of an attempt whose time was up it is told again when it ends.
    const name = [id, attempt, method, origin, path].join(" ");
    const before = told.take(name) ?? { sent: 1, refused: 0 };
    told.put(name, { sent, refused });
    const add = (more: number, stopped: boolean) =>
      more > 0 && hidden.add(more, { [TOOL]: tool, "holdfire.stopped": stopped });
    add(sent - before.sent, false);
    add(refused - before.refused, true);
  });

  const sampleSeconds = seconds("sample.duration", "How long requests of model calls took.");
  on("sample", ({ client, status, durationMs }) => {
    sampleSeconds(
      durationMs,
      attributes({ [CLIENT]: client, "http.response.status_code": status }),
    );
  });
  const tokens = counter("sample.tokens", "token", "Tokens of model calls, as far as told.");
  on("usage", ({ client, inputTokens = 0, outputTokens = 0 }) => {
    if (inputTokens > 0) tokens.add(inputTokens, { [CLIENT]: client, [TOKENS]: "input" });
    if (outputTokens > 0) tokens.add(outputTokens, { [CLIENT]: client, [TOKENS]: "output" });
  });
}

const MOST = 10_000;

/** What was told of late; the oldest is forgotten first. */
function bounded<V>() {
  const values = new Map<string, V>();
  return {
    put(name: string, value: V): void {
      values.set(name, value);
      const [oldest] = values.keys();
      if (values.size > MOST && oldest !== undefined) values.delete(oldest);
    },
    take(name: string): V | undefined {
      const value = values.get(name);
      values.delete(name);
      return value;
    },
  };
}
