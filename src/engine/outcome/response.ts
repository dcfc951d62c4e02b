/**
 * A fetch `Response` as a result: read whole inside the attempt, kept as status, content type and
 * body, and given back as a new one.
 *
 * @module
 */

import { isResponse } from "../../classify/answer.ts";
import type { KeptResponse } from "../../ledger/codec.ts";

/** Statuses that may not have a body. */
const BODILESS = new Set([101, 103, 204, 205, 304]);

export interface Buffered {
  readonly response: Response;
  /** `undefined` if the body broke off: the status was said, the rest is lost. */
  readonly kept: KeptResponse | undefined;
}

export async function bufferResponse(response: Response): Promise<Buffered> {
  const { status, statusText, headers } = response;
  const contentType = headers.get("content-type") ?? undefined;
  try {
    const bytes = Buffer.from(await response.arrayBuffer());
    const kept = keep(status, contentType, bytes);
    const body = BODILESS.has(status) ? null : bytes;
    return { kept, response: new Response(body, { status, statusText, headers }) };
  } catch {
    const body = BODILESS.has(status) ? null : "";
    return { kept: undefined, response: new Response(body, { status, statusText, headers }) };
  }
}

function keep(status: number, contentType: string | undefined, bytes: Buffer): KeptResponse {
  const text = bytes.toString("utf8");
  return Buffer.from(text, "utf8").equals(bytes)
    ? { status, contentType, body: text, encoding: "utf8" }
    : { status, contentType, body: bytes.toString("base64"), encoding: "base64" };
}

export function reviveResponse(value: unknown): Response {
  const { status, contentType, body, encoding } = value as KeptResponse;
  const headers = contentType === undefined ? {} : { "content-type": contentType };
  const bytes = BODILESS.has(status) ? null : Buffer.from(body, encoding);
  return new Response(bytes, { status, headers });
}

export { isResponse };
