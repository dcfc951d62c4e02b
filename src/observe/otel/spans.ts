/**
 * A span for each operation, and below it one for each attempt.
 *
 * The spans of an operation are kept in its asynchronous context, so two concurrent operations are not
 * mixed up, and an operation that never ends leaves nothing behind.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { HoldfireEvents } from "../events.ts";
import { keyHash } from "../redacted.ts";
import { type ContextLike, ERROR, INTERNAL, type SpanLike, type TracerLike } from "./api.ts";
import {
  attributes,
  ERROR_TYPE,
  failureOf,
  failureOfAttempt,
  GEN_AI_OPERATION,
  KIND,
  TOOL,
} from "./attributes.ts";
import type { Contexts } from "./contexts.ts";
import type { Listening } from "./listening.ts";

interface Traced {
  readonly id: string;
  /** The parent of a span that starts here. */
  readonly context: ContextLike;
  readonly span: SpanLike;
  /** The spans of running attempts, by number. */
  readonly attempts: Map<number, SpanLike>;
}

export function traceSpans(on: Listening["on"], tracer: TracerLike, contexts: Contexts): void {
  const here = new AsyncLocalStorage<Traced>();

  const operationOf = ({ id }: { readonly id: string }): Traced | undefined => {
    const traced = here.getStore();
    return traced?.id === id ? traced : undefined;
  };

  on("operation", (event) => {
    const active = contexts.active();
    // An operation inside an attempt is its child, also where no context can be made active.
    const parent = contexts.hasSpan(active) ? active : (here.getStore()?.context ?? active);
    const { tool, by } = event;
    const name = by === "call" ? `execute_tool ${tool}` : `holdfire reconcile ${tool}`;
    const how = { kind: INTERNAL, attributes: ofOperation(event) };
    const span = tracer.startSpan(name, how, parent);
    const context = contexts.holding(parent, span);
    const traced: Traced = { id: event.id, context, span, attempts: new Map() };
    event.around((run) => here.run(traced, () => contexts.run(context, run)));
  });

  on("attempt", (event) => {
    const operation = operationOf(event);
    if (!operation) return;
    const given = {
      [TOOL]: event.tool,
      "holdfire.key.hash": keyHash(event.key),
      "holdfire.attempt.number": event.attempt,
      "holdfire.licence": event.licence,
    };
    const { attempt } = event;
    const how = { kind: INTERNAL, attributes: given };
    const span = tracer.startSpan(`holdfire ${event.tool} attempt`, how, operation.context);
    operation.attempts.set(attempt, span);
    const context = contexts.holding(operation.context, span);
    const inside: Traced = { ...operation, context };
    event.around((run) => here.run(inside, () => contexts.run(context, run)));
  });

  on("warning", (event) => {
    if (event.code !== "hidden_retry") return;
    const span = operationOf(event)?.attempts.get(event.attempt);
    span?.setAttributes({ "holdfire.hidden_retries": event.count - 1 + (event.refused ?? 0) });
  });

  on("verdict", (event) => {
    const operation = operationOf(event);
    const span = operation?.attempts.get(event.attempt);
    operation?.attempts.delete(event.attempt);
    if (!span) return;
    end(span, {
      "holdfire.verdict": event.verdict,
      "http.response.status_code": event.status,
      "holdfire.wire_requests": event.wireRequests,
      [ERROR_TYPE]: failureOfAttempt(event),
    });
  });

  on("outcome", (event) => {
    const operation = operationOf(event);
    if (!operation) return;
    // These have no verdict: the call ended with an error of the store.
    for (const span of operation.attempts.values()) {
      end(span, { "holdfire.verdict": "unknown", [ERROR_TYPE]: "unknown" });
    }
    operation.attempts.clear();
    end(operation.span, {
      // It differs from the first one if the service had rejected that key.
      "holdfire.key.hash": keyHash(event.key),
      "holdfire.outcome": event.status,
      "holdfire.outcome.reason": event.reason,
      "holdfire.licence": event.licence,
      "holdfire.attempts": event.attempts,
      "holdfire.replayed": event.replayed,
      "holdfire.recorded": event.recorded,
      [ERROR_TYPE]: failureOf(event),
    });
  });
}

/** The conventions' span of a tool's execution; a check by `hf.reconcile` executes no tool. */
function ofOperation({ tool, key, kind, by, toolCallId }: HoldfireEvents["operation"]) {
  return attributes({
    [GEN_AI_OPERATION]: by === "call" ? "execute_tool" : undefined,
    [TOOL]: tool,
    "gen_ai.tool.type": by === "call" ? "function" : undefined,
    "gen_ai.tool.call.id": toolCallId,
    "holdfire.key.hash": keyHash(key),
    [KIND]: kind,
    "holdfire.by": by,
  });
}

/** A failure has a type and no description: an error's message may contain anything. */
export function end(span: SpanLike, given: Parameters<typeof attributes>[0]): void {
  span.setAttributes(attributes(given));
  if (given[ERROR_TYPE] !== undefined) span.setStatus({ code: ERROR });
  span.end();
}
