/**
 * Finds the service's answer (status, headers) in what a tool returned or threw. It looks at structure,
 * so it works for any SDK, any fetch and any realm.
 *
 * @module
 */

import { peek, peekItems, tryCall } from "../lang/peek.ts";

const MAX_HEADERS = 256;
const MAX_HEADER_LENGTH = 1_024;

/** The status of a `Response`, or of an error that carries one. */
export function statusOf(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const places = [
    peek(value, "status"),
    peek(value, "statusCode"),
    peek(peek(value, "response"), "status"),
    peek(peek(value, "$metadata"), "httpStatusCode"),
  ];
  return places.find(isStatus);
}

const isStatus = (status: unknown): status is number =>
  typeof status === "number" && Number.isInteger(status) && status >= 100 && status <= 599;

/** Whether this is a fetch `Response`: of the platform, of undici, or of another realm. */
export function isResponse(value: unknown): value is Response {
  if (typeof value !== "object" || value === null) return false;
  try {
    const it = value as Response;
    return (
      typeof it.status === "number" &&
      typeof it.ok === "boolean" &&
      typeof it.text === "function" &&
      typeof it.arrayBuffer === "function" &&
      typeof it.headers?.get === "function"
    );
  } catch {
    return false;
  }
}

/**
 * Whether this is an answer, to be judged by its status: a fetch `Response`, or another, such as one of
 * `undici.request()`, or of axios with `validateStatus` off.
 */
export function isAnswer(value: unknown): boolean {
  if (isResponse(value)) return true;
  const headers = peek(value, "headers");
  if (typeof headers !== "object" || headers === null) return false;
  if (statusOf(value) === undefined) return false;
  const whole = peek(value, "body") ?? peek(value, "data");
  return whole !== undefined;
}

/** Reads a header by name, in any case; several values are joined by ", ". */
export type HeaderReader = (name: string) => string | undefined;

const NO_HEADERS: HeaderReader = () => undefined;

export function headersOf(value: unknown): HeaderReader {
  const holders = [peek(value, "headers"), peek(peek(value, "response"), "headers")].filter(
    Boolean,
  );
  if (holders.length === 0) return NO_HEADERS;
  return (name) => {
    for (const headers of holders) {
      const found = readHeader(headers, name);
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

function readHeader(headers: unknown, name: string): string | undefined {
  const found =
    typeof peek(headers, "get") === "function"
      ? tryCall(headers, "get", name)
      : peek(headers, keyLike(headers, name));
  const values = (typeof found === "object" ? peekItems(found, MAX_HEADERS) : [found]).filter(
    (value) => typeof value === "string" || typeof value === "number",
  );
  const text = values.join(", ");
  return values.length > 0 && text.length <= MAX_HEADER_LENGTH ? text : undefined;
}

function keyLike(headers: unknown, name: string): string {
  if (typeof headers !== "object" || headers === null) return name;
  try {
    const keys = Object.keys(headers).slice(0, MAX_HEADERS);
    return keys.find((key) => key.toLowerCase() === name.toLowerCase()) ?? name;
  } catch {
    return name;
  }
}

const LONGEST_MS = 24 * 3_600_000;
const DECIMAL = /^\d{1,15}(\.\d{1,9})?$/;

/**
 * Milliseconds to wait, an integer from 0 to 24 h, from `retry-after-ms` or else `retry-after`.
 *
 * A date must be an IMF-fixdate ("Sun, 06 Nov 1994 08:49:37 GMT"); one that has passed means 0.
 */
export function retryAfterMs(header: HeaderReader, now: number): number | undefined {
  const wait =
    decimal(header("retry-after-ms"), 1) ??
    decimal(header("retry-after"), 1_000) ??
    until(header("retry-after"), now);
  if (wait === undefined || !Number.isFinite(wait)) return undefined;
  return Math.min(Math.max(Math.ceil(wait), 0), LONGEST_MS);
}

function decimal(value: string | undefined, unitMs: number): number | undefined {
  const text = value?.trim();
  return text !== undefined && DECIMAL.test(text) ? Number(text) * unitMs : undefined;
}

function until(value: string | undefined, now: number): number | undefined {
  const text = value?.trim();
  if (text === undefined) return undefined;
  const date = new Date(text);
  // Only an IMF-fixdate is written back unchanged; Date.parse guesses at other formats.
  return date.toUTCString() === text && !Number.isNaN(date.getTime())
    ? date.getTime() - now
    : undefined;
}
