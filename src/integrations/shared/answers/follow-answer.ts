/**
 * Follows the body of an answer: whether it is whole, what it cost, and its text if it is to be kept.
 *
 * @module
 */

import { SAMPLE_BYTES } from "../../../engine/loops/sample-record.ts";
import { peek } from "../../../lang/peek.ts";
import { sseReader } from "./sse.ts";
import { laterTokens, type Tokens, tokensIn } from "./usage.ts";

/** How the body is written. Other bodies are passed on unseen. */
export type BodyForm = "json" | "events";

export interface Answer {
  see(chunk: Uint8Array): void;
  /** The body ended as bodies end. */
  end(): void;
  /** Nothing that matters is missing. A stream says so itself, and may do it before its end. */
  isWhole(): boolean;
  /** Whole, and an answer: the provider did not report a failure in it. */
  isGood(): boolean;
  tokens(): Tokens | undefined;
  /** `undefined` where it is longer than is kept. */
  text(): string | undefined;
  /** The parsed body of a JSON answer that is whole. */
  value(): unknown;
}

/** Bodies longer than this are not looked into, in bytes. */
const LONGEST_JSON = 4 * SAMPLE_BYTES;

export function formOf(response: Response): BodyForm | undefined {
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "text/event-stream") return "events";
  return type === "application/json" || type.endsWith("+json") ? "json" : undefined;
}

export const followAnswer = (form: BodyForm): Answer =>
  form === "json" ? followJson() : followEvents();

function followJson(): Answer {
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
    isGood: () =>
      whole && typeof value === "object" && value !== null && peek(value, "status") !== "failed",
    tokens: () => tokensIn(value),
    text: () => (body.size() > SAMPLE_BYTES ? undefined : body.text()),
    value: () => value,
  };
}

function followEvents(): Answer {
  const body = collect(SAMPLE_BYTES);
  const reader = sseReader();
  let tokens: Tokens | undefined;
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
    isGood: isWhole,
    tokens: () => tokens,
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
