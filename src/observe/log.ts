/**
 * One line of a log for each event. What a line may say is listed here, field by field: no arguments,
 * results, keys, scopes or addresses, and of an error its class and code.
 *
 * @module
 */

import { InvalidInputError } from "../errors.ts";
import { visible } from "../key/escape-hidden.ts";
import { peek } from "../lang/peek.ts";
import type { EventName, Events, HoldfireEvents, Listener } from "./events.ts";
import { classOf, codeOf } from "./failure.ts";
import { keyHash } from "./key-hash.ts";

/** What of less weight is left out. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/** `console`, pino, winston and most others. */
export type Logger = Readonly<Record<LogLevel, (line: string) => unknown>>;

export interface LogOptions {
  /** The least weight that is logged. @default "info" */
  readonly level?: LogLevel | undefined;
  /** What is said of errors. Their messages may hold anything a service or a tool put there. @default "codes" */
  readonly errors?: "codes" | "messages" | undefined;
}

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];
const LONGEST_VALUE = 200;
const LONGEST_MESSAGE = 300;

type KeyOf<E> = E extends unknown ? keyof E : never;
/** Its weight, and the fields that it may say. */
type Line<E> = readonly [LogLevel, ...KeyOf<E>[]];
type Store = HoldfireEvents["store"];
type Warning = HoldfireEvents["warning"];

const STORE: { readonly [S in Store["status"]]: Line<Extract<Store, { status: S }>> } = {
  error: ["error", "status", "step"],
  suspect: ["error", "status", "why"],
  unrecorded: ["error", "status", "tool"],
  recorded: ["info", "status", "tool"],
};

const WARNINGS: { readonly [C in Warning["code"]]: Line<Extract<Warning, { code: C }>> } = {
  hidden_retry: ["warn", "code", "tool", "attempt", "method", "origin", "count", "refused"],
  key_unused: ["warn", "code", "tool"],
  reader_blind: ["error", "code", "tool"],
  reader_failed: ["warn", "code", "tool", "which", "why"],
  volatile_intent: ["warn", "code", "tool"],
  payload_lost: ["warn", "code", "tool"],
  lease_lost: ["warn", "code", "tool"],
  prompt_drift: ["warn", "code", "client"],
};

const ENDED = ["tool", "attempt", "verdict", "status", "wireRequests", "durationMs"] as const;
const BECAME = [
  "status",
  "reason",
  "via",
  "licence",
  "attempts",
  "replayed",
  "durationMs",
] as const;

/** A function where the weight depends on what is told. */
const LINES: {
  readonly [N in EventName]:
    | Line<HoldfireEvents[N]>
    | ((event: HoldfireEvents[N]) => Line<HoldfireEvents[N]>);
} = {
  operation: ["debug", "tool", "kind", "by"],
  outcome: ({ status, replayed }) => [
    status === "unknown" && !replayed ? "warn" : "info",
    "tool",
    ...BECAME,
  ],
  attempt: ["info", "tool", "attempt", "licence"],
  verdict: ({ timedOut }) => [timedOut ? "warn" : "info", ...ENDED, "timedOut"],
  late: ["warn", ...ENDED],
  read: ["info", "tool", "reading", "durationMs"],
  takeover: ["warn", "tool", "epoch"],
  duplicate: ["error", "tool", "source"],
  approval: ["info", "tool", "status", "why"],
  sample: ["debug", "client", "attempt", "status", "wireRequests", "durationMs", "replayed"],
  usage: ["debug", "client", "attempt", "inputTokens", "outputTokens", "partial"],
  store: ({ status }) => STORE[status],
  warning: ({ code }) => WARNINGS[code],
  reconcile: ["debug", "checked", "committed", "notApplied", "stillUnknown", "skipped"],
  drift: ["warn", "tool", "finding"],
};

/** Writes a line for each event of this holdfire. Returns the function that stops it. */
export function logTo(
  hf: Pick<Events, "on">,
  logger: Logger,
  options: LogOptions = {},
): () => void {
  const { level = "info", errors = "codes" } = options;
  if (!LEVELS.includes(level)) {
    throw new InvalidInputError("options.level", `must be one of ${LEVELS.join(", ")}`);
  }
  if (errors !== "codes" && errors !== "messages") {
    throw new InvalidInputError("options.errors", 'must be "codes" or "messages"');
  }
  const missing = LEVELS.find((name) => typeof peek(logger, name) !== "function");
  if (missing) throw new InvalidInputError(`logger.${missing}`, "must be a function");
  const weighsEnough = (weight: LogLevel) => LEVELS.indexOf(weight) >= LEVELS.indexOf(level);
  const stops = (Object.keys(LINES) as EventName[]).flatMap((name) => {
    const line = LINES[name] as Line<object> | ((event: object) => Line<object>);
    if (typeof line !== "function" && !weighsEnough(line[0])) return [];
    const listener = (event: object) => {
      const [weight, ...fields] = typeof line === "function" ? line(event) : line;
      if (!weighsEnough(weight)) return undefined;
      return logger[weight](`holdfire ${name}${textOf(event, fields, errors === "messages")}`);
    };
    return [hf.on(name, listener as Listener<typeof name>)];
  });
  return () => {
    for (const stop of stops) stop();
  };
}

function textOf(event: object, fields: readonly string[], messages: boolean): string {
  const { key, error } = event as { readonly key?: string; readonly error?: unknown };
  const said: [string, unknown][] = fields.map((name) => [name, peek(event, name)]);
  if (key !== undefined) said.push(["keyHash", keyHash(key)]);
  if (error !== undefined) {
    said.push(["error", classOf(error) ?? typeof error], ["code", codeOf(error)]);
    if (messages) said.push(["message", peek(error, "message") ?? error]);
  }
  return said
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${valueText(value, name)}`)
    .join("");
}

/** Quoted where it could be taken for more than one value. */
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
