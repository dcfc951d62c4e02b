/**
 * A fetch `Response` on its way to the caller and into the ledger: read as far as it can be kept, and given back.
 *
 * A body that is too large to keep is not read on: the caller gets it as it comes, in the same `Response`.
 *
 * @module
 */

import type { KeptResponse } from "../../ledger/codec/codec.ts";

/** Statuses that may not have a body. */
const BODILESS = new Set([101, 103, 204, 205, 304]);

export interface Buffered {
  readonly response: Response;
  /** `undefined` if the body broke off, or is too large: the status was said, the rest cannot be kept. */
  readonly kept: KeptResponse | undefined;
  /** Too large: `response` has the whole body, and most of it is still to come. */
  readonly isUnread: boolean;
}

export interface BufferLimits {
  readonly maxBytes: number;
  /** Stops reading: the attempt is over. */
  readonly signal?: AbortSignal | undefined;
}

const streamed = new WeakSet<Response>();

/** Whether its body is read as it comes, and so by one only. */
export const isStreamed = (response: Response): boolean => streamed.has(response);

export async function bufferResponse(
  response: Response,
  { maxBytes, signal }: BufferLimits,
): Promise<Buffered> {
  const { status, statusText, headers } = response;
  const again = (body: ConstructorParameters<typeof Response>[0]) =>
    new Response(BODILESS.has(status) ? null : body, { status, statusText, headers });
  const broken = () => ({ kept: undefined, response: again(""), isUnread: false });
  if (response.bodyUsed) return broken();
  const reader = response.body?.getReader();
  const stop = () => void reader?.cancel().catch(() => {});
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const read = reader ? await readUpTo(reader, maxBytes) : NOTHING;
    if (signal?.aborted) return broken();
    if (read.isWhole) {
      const bytes = Buffer.concat(read.chunks);
      const kept = keep(status, headers.get("content-type") ?? undefined, bytes);
      return { kept, response: again(bytes), isUnread: false };
    }
    const whole = again(reader ? goOn(read.chunks, reader) : null);
    streamed.add(whole);
    return { kept: undefined, response: whole, isUnread: true };
  } catch {
    return broken();
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

interface Read {
  readonly chunks: readonly Uint8Array[];
  readonly isWhole: boolean;
}

const NOTHING: Read = { chunks: [], isWhole: true };

async function readUpTo(reader: Reader, maxBytes: number): Promise<Read> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size <= maxBytes) {
    const { done, value } = await reader.read();
    if (done) return { chunks, isWhole: true };
    chunks.push(value);
    size += value.length;
  }
  return { chunks, isWhole: false };
}

/** What was read, and then the rest as it comes. */
function goOn(chunks: readonly Uint8Array[], reader: Reader): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = chunks[next];
      next += 1;
      if (chunk) return controller.enqueue(chunk);
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
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
