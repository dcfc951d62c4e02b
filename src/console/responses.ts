/**
 * The responses of the console: JSON, text and files, each with the headers that keep a browser from doing more than
 * showing them.
 *
 * @module
 */

import { jsonText } from "../key/escape-hidden.ts";
import type { Problem } from "./model.ts";

/** Only what this handler serves itself; nothing inline, nothing from outside, in no frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

export const respond = (
  body: string | ReadableStream<Uint8Array> | null,
  type: string,
  { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> } = {},
): Response =>
  new Response(body, { status, headers: { ...HEADERS, "content-type": type, ...headers } });

/** Hidden characters in what has not been made visible are written as JSON's own escapes. */
export const json = (value: unknown, status = 200): Response =>
  respond(jsonText(value, 0), "application/json; charset=utf-8", { status });

export const problem = (status: number, error: string, hint?: string): Response =>
  json({ error, hint } satisfies Problem, status);
