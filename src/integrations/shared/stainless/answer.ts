/**
 * Follows the body of an answer: whether it is whole, what it cost, and its text if it is to be kept.
 *
 * @module
 */

import { SAMPLE_BYTES } from "../../../engine/reads-and-samples/sample-record.ts";
import { peek, tryCall } from "../../../lang/peek.ts";
import { modelName } from "../retries/model-names.ts";
import { sseReader } from "./sse.ts";

/** How the body is written. Other bodies are passed on as they are. */
export type BodyForm = "json" | "events";

export interface ModelAnswer {
  see(chunk: Uint8Array): void;
  /** The body ended as bodies end. */
  end(): void;
  /** Nothing that matters is missing. A stream says so itself, and may do it before its end. */
  isWhole(): boolean;
  /** A stream that says itself when it is whole, and has not said so: read on, it has more. */
  isCut(): boolean;
  /** Whole, and an answer: the provider did not report a failure in it. */
  isGood(): boolean;
  tokens(): Tokens | undefined;
  /** The model that answered, as far as it is told. */
  model(): string | undefined;
  /** `undefined` where it is longer than is kept. */
  text(): string | undefined;
  /** The parsed body of a JSON answer that is whole. */
  value(): unknown;
}

/** Bodies longer than this are not parsed, in bytes. */
const LONGEST_JSON = 4 * SAMPLE_BYTES;

export function formOf(response: Response): BodyForm | undefined {
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "text/event-stream") return "events";
  return type === "application/json" || type.endsWith("+json") ? "json" : undefined;
}

export const followAnswer = (form: BodyForm): ModelAnswer =>
  form === "json" ? followJson() : followEvents();

function followJson(): ModelAnswer {
  const body = collect(LONGEST_JSON);
  let value: unknown;
  let whole = false;
  return {
    see: body.add,
    end() {
      const text = body.text();
      whole = true;
      value = text === undefined ? undefined : parse(text);
    },
    isWhole: () => whole,
    isCut: () => false,
    isGood: () =>
      whole && typeof value === "object" && value !== null && peek(value, "status") !== "failed",
    tokens: () => tokensIn(value),
    model: () => modelIn(value),
    text: () => (body.size() > SAMPLE_BYTES ? undefined : body.text()),
    value: () => value,
  };
}

function followEvents(): ModelAnswer {
  const body = collect(SAMPLE_BYTES);
  const reader = sseReader();
  let tokens: Tokens | undefined;
  let model: string | undefined;
  let ended = false;
  /** The kind of stream is known, and has a last event of its own. */
  let hasMark = false;
  let marked = false;
  let failed = false;

  function judge(data: string): void {
    if (data === "[DONE]") {
      marked = true;
      return;
    }
    const value = parse(data);
    const told = tokensIn(value);
    if (told) tokens = laterTokens(tokens, told);
    model ??= modelIn(value);
    const type = peek(value, "type");
    if (MARKED.has(type) || peek(value, "object") === "chat.completion.chunk") hasMark = true;
    if (LAST.has(type)) marked = true;
    if (FAILED.has(type) || peek(value, "error")) failed = true;
  }

  const isWhole = () => !failed && (marked || (ended && !hasMark));
  return {
    see(chunk) {
      body.add(chunk);
      for (const data of reader.read(chunk)) judge(data);
    },
    end() {
      ended = true;
      for (const data of reader.end()) judge(data);
    },
    isWhole,
    isCut: () => !failed && hasMark && !marked,
    isGood: isWhole,
    tokens: () => tokens,
    model: () => model,
    text: body.text,
    value: () => undefined,
  };
}

/** First events of streams whose last event is known. */
const MARKED = new Set<unknown>(["message_start", "response.created", "response.in_progress"]);
const LAST = new Set<unknown>(["message_stop", "response.completed", "response.incomplete"]);
const FAILED = new Set<unknown>(["error", "response.failed"]);

function collect(most: number) {
  const chunks: Buffer[] = [];
  let size = 0;
  return {
    add(chunk: Uint8Array): void {
      size += chunk.byteLength;
      // A copy: the reader of the body may do with its chunk what it likes.
      if (size <= most) chunks.push(Buffer.from(chunk));
      else chunks.length = 0;
    },
    size: () => size,
    text: () => (size > most ? undefined : Buffer.concat(chunks).toString("utf8")),
  };
}

const parse = (text: string): unknown => tryCall(JSON, "parse", text);

/** Tokens, as far as the provider told. */
export interface Tokens {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}

/**
 * The usage in an answer or in one event of a stream. In a stream it stands beside the delta (chat
 * completions, `message_delta`) or inside what the event is about (`response.completed`,
 * `message_start`).
 */
export function tokensIn(value: unknown): Tokens | undefined {
  const usage = [value, peek(value, "message"), peek(value, "response")]
    .map((holder) => peek(holder, "usage"))
    .find((found) => typeof found === "object" && found !== null);
  if (usage === undefined) return undefined;
  const inputTokens = count(usage, "input_tokens") ?? count(usage, "prompt_tokens");
  const outputTokens = count(usage, "output_tokens") ?? count(usage, "completion_tokens");
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return { inputTokens, outputTokens };
}

/** It stands where the usage does. */
const modelIn = (value: unknown): string | undefined =>
  [value, peek(value, "message"), peek(value, "response")]
    .map((holder) => modelName(holder, "model"))
    .find((name) => name !== undefined);

/** Later counts replace earlier ones: providers send running totals. */
export const laterTokens = (before: Tokens | undefined, now: Tokens): Tokens => ({
  inputTokens: now.inputTokens ?? before?.inputTokens,
  outputTokens: now.outputTokens ?? before?.outputTokens,
});

function count(usage: unknown, name: string): number | undefined {
  const value = peek(usage, name);
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined;
}
