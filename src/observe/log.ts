/**
 * Writes one log line for each event. The fields of each line are listed here: no arguments, results,
 * keys, scopes or paths, and of an error its class and code.
 *
 * @module
 */

import { InvalidInputError } from "../errors.ts";
import { visible } from "../key/escape-hidden.ts";
import { peek } from "../lang/peek.ts";
import type { EventName, Events, HoldfireEvents, Listener } from "./events.ts";
import { classOf, codeOf, keyHash } from "./redacted.ts";

/** From the least to the most important. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** Fits `console`, pino, winston and most others. */
export type Logger = Readonly<Record<LogLevel, (line: string) => unknown>>;

export interface LogOptions {
  /** The lowest level that is logged. @default "info" */
  readonly level?: LogLevel | undefined;
  /** What is logged of errors. Messages may contain anything that a service or a tool put there. @default "codes" */
  readonly errors?: "codes" | "messages" | undefined;
}

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];
const LONGEST_VALUE = 200;
const LONGEST_MESSAGE = 300;

type KeyOf<E> = E extends unknown ? keyof E : never;
/** The level of a line, and its fields. */
type Line<E> = readonly [LogLevel, ...KeyOf<E>[]];
type Store = HoldfireEvents["store"];
type Warning = HoldfireEvents["warning"];

const STORE: { readonly [S in Store["status"]]: Line<Extract<Store, { status: S }>> } = {
  error: ["error", "status", "step"],
  suspect: ["error", "status", "why"],
  unreadable: ["error", "status"],
  unrecorded: ["error", "status", "tool"],
  recorded: ["info", "status", "tool"],
};

const WARNINGS: { readonly [C in Warning["code"]]: Line<Extract<Warning, { code: C }>> } = {
  hidden_retry: ["warn", "code", "tool", "attempt", "method", "origin", "count", "refused"],
  no_app: ["warn", "code", "tool"],
  swallowed_status: ["warn", "code", "tool", "attempt", "status"],
  late_send: ["error", "code", "tool", "attempt"],
  key_unused: ["warn", "code", "tool"],
  reader_blind: ["error", "code", "tool"],
  reader_failed: ["warn", "code", "tool", "which", "why"],
  volatile_intent: ["warn", "code", "tool"],
  sibling_unknown: ["warn", "code", "tool"],
  effect_mistaken: ["error", "code", "tool"],
  payload_lost: ["warn", "code", "tool"],
  store_forgot: ["warn", "code", "tool"],
  lease_lost: ["warn", "code", "tool"],
  prompt_drift: ["warn", "code", "client"],
};

const ENDED = ["tool", "attempt", "verdict", "status", "wireRequests", "durationMs"] as const;
const OUTCOME = [
  "status",
  "reason",
  "via",
  "licence",
  "attempts",
  "replayed",
  "durationMs",
] as const;

const MODEL_ANSWER = [
  ...(["client", "operation", "provider", "model", "responseModel", "status", "attempts"] as const),
  ...(["inputTokens", "outputTokens", "replayed", "partial", "durationMs"] as const),
] as const;

/** A function where the level depends on the event. */
const LINES: {
  readonly [N in EventName]:
    | Line<HoldfireEvents[N]>
    | ((event: HoldfireEvents[N]) => Line<HoldfireEvents[N]>);
} = {
  operation: ["debug", "tool", "kind", "by"],
  outcome: ({ status, replayed }) => [
    status === "unknown" && !replayed ? "warn" : "info",
    "tool",
    ...OUTCOME,
  ],
  attempt: ["info", "tool", "attempt", "licence"],
  verdict: ({ timedOut }) => [timedOut ? "warn" : "info", ...ENDED, "timedOut"],
  late: ["warn", ...ENDED],
  read: ["info", "tool", "reading", "durationMs"],
  waiting: ["info", "tool"],
  takeover: ["warn", "tool", "epoch"],
  duplicate: ["error", "tool", "source"],
  approval: ["info", "tool", "status", "why"],
  model_call: ["debug", "client", "operation", "provider", "model"],
  model_answer: ({ error }) => [error === undefined ? "debug" : "warn", ...MODEL_ANSWER],
  sample: ["debug", "client", "attempt", "status", "wireRequests", "durationMs", "replayed"],
  usage: ["debug", "client", "attempt", "inputTokens", "outputTokens", "partial"],
  store: ({ status }) => STORE[status],
  warning: ({ code }) => WARNINGS[code],
  reconcile: ["debug", "checked", "committed", "notApplied", "stillUnknown", "skipped"],
  drift: ["warn", "tool", "finding"],
};

/** Writes a log line for each event of this holdfire. Returns the function that stops it. */
export function logTo(
  hf: Pick<Events, "on">,
  logger: Logger,
  options: LogOptions = {},
): () => void {
  const { level = "info", errors = "codes" } = options;
  if (!LEVELS.includes(level)) {
    throw new InvalidInputError("options.level", `must be one of ${LEVELS.join(", ")}.`);
  }
  if (errors !== "codes" && errors !== "messages") {
    throw new InvalidInputError("options.errors", 'must be "codes" or "messages".');
  }
  const missing = LEVELS.find((name) => typeof peek(logger, name) !== "function");
  if (missing) throw new InvalidInputError(`logger.${missing}`, "must be a function.");
  const isLogged = (at: LogLevel) => LEVELS.indexOf(at) >= LEVELS.indexOf(level);
  const stops = (Object.keys(LINES) as EventName[]).flatMap((name) => {
    const line = LINES[name] as Line<object> | ((event: object) => Line<object>);
    if (typeof line !== "function" && !isLogged(line[0])) return [];
    const listener = (event: object) => {
      const [at, ...fields] = typeof line === "function" ? line(event) : line;
      if (!isLogged(at)) return undefined;
      return logger[at](`holdfire ${name}${textOf(event, fields, errors === "messages")}`);
    };
    return [hf.on(name, listener as Listener<typeof name>)];
  });
  return () => {
    for (const stop of stops) stop();
  };
}

function textOf(event: object, fields: readonly string[], messages: boolean): string {
  const { key, error } = event as { readonly key?: string; readonly error?: unknown };
  const shown: [string, unknown][] = fields.map((name) => [name, peek(event, name)]);
  if (key !== undefined) shown.push(["keyHash", keyHash(key)]);
  if (error !== undefined) {
    shown.push(["error", classOf(error) ?? typeof error], ["code", codeOf(error)]);
    if (messages) shown.push(["message", peek(error, "message") ?? error]);
  }
  return shown
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${valueText(value, name)}`)
    .join("");
}

/** Quoted where it could be read as more than one value. */
function valueText(value: unknown, name: string): string {
  if (typeof value === "number") return String(Math.round(value * 1_000) / 1_000);
  const text =
    typeof value === "string" ? value : typeof value === "boolean" ? String(value) : typeof value;
  const longest = name === "message" ? LONGEST_MESSAGE : LONGEST_VALUE;
  if (/^[\w.:/@+-]+$/.test(text) && text.length <= longest) return text;
  const cut = text.length > longest ? `${text.slice(0, longest)}…` : text;
  const quotable = cut.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
  return `"${visible(quotable, quotable.length)}"`;
}
