/**
 * A fetch `Response` on its way to the caller and into the ledger: read as far as it can be kept, and given back.
 *
 * A body that is too large to keep, or that comes too slowly, is not read on: the caller gets it as it comes, in the same
 * `Response`.
 *
 * @module
 */

import type { StopSignal } from "../../lang/stop.ts";
import type { KeptResponse } from "../../ledger/codec/codec.ts";

/** Statuses that may not have a body. */
const BODILESS = new Set([101, 103, 204, 205, 304]);

export interface Buffered {
  readonly response: Response;
  /** `undefined` if the body broke off, or is unread: the status was said, the rest cannot be kept. */
  readonly kept: KeptResponse | undefined;
  /** Too large or too slow: `response` has the whole body, and some of it is still to come. */
  readonly isUnread: boolean;
}

export interface BufferLimits {
  readonly maxBytes: number;
  /** Stops reading: the attempt is over. */
  readonly signal?: AbortSignal | undefined;
  /** Hands the body over as far as it has come: the service has answered, and its caller has waited long enough. */
  readonly enough?: StopSignal | undefined;
}

const streamed = new WeakSet<Response>();

/** Whether its body is read as it comes, and so by one only. */
export const isStreamed = (response: Response): boolean => streamed.has(response);

export async function bufferResponse(
  response: Response,
  { maxBytes, signal, enough }: BufferLimits,
): Promise<Buffered> {
  const { status, statusText } = response;
  const headers = headersIn(response);
  const again = (body: ConstructorParameters<typeof Response>[0]) =>
    new Response(BODILESS.has(status) ? null : body, { status, statusText, headers });
  const broken = () => ({ kept: undefined, response: again(""), isUnread: false });
  if (response.bodyUsed) return broken();
  let reader: Reader | undefined;
  const stop = () => void reader?.cancel().catch(() => {});
  signal?.addEventListener("abort", stop, { once: true });
  try {
    reader = readerOf(response.body);
    const read = reader ? await readUpTo(reader, maxBytes, enough) : NOTHING;
    if (signal?.aborted) return broken();
    if (read.isWhole) {
      const bytes = Buffer.concat(read.chunks);
      const kept = keep(status, headers.get("content-type") ?? undefined, bytes);
      return { kept, response: again(bytes), isUnread: false };
    }
    const whole = again(reader ? goOn(read, reader) : null);
    streamed.add(whole);
    return { kept: undefined, response: whole, isUnread: true };
  } catch {
    return broken();
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** The types of browsers do not have it yet. */
const streams = ReadableStream as unknown as {
  from(parts: unknown): ReadableStream<Uint8Array>;
};

/** The body of a polyfill, such as node-fetch, is a stream of Node's. */
function readerOf(body: Response["body"]): Reader | undefined {
  if (!body) return undefined;
  return (typeof body.getReader === "function" ? body : streams.from(body)).getReader();
}

/** Those of a hand-made response may be no list. */
function headersIn({ headers }: { readonly headers: object & Pick<Headers, "get"> }): Headers {
  if (Symbol.iterator in headers) return new Headers(headers as Headers);
  const type = headers.get("content-type");
  return new Headers(type ? { "content-type": type } : {});
}

/** With a body of its own; where it cannot be copied, it is shared. */
export function copyOfResponse(response: Response): Response {
  try {
    return response.clone();
  } catch {
    return response;
  }
}

type Chunk = ReturnType<Reader["read"]>;

interface Read {
  readonly chunks: readonly Uint8Array[];
  readonly isWhole: boolean;
  /** The chunk that was asked for, and had not come yet. */
  readonly asked?: Chunk | undefined;
}

const NOTHING: Read = { chunks: [], isWhole: true };

async function readUpTo(
  reader: Reader,
  maxBytes: number,
  enough: StopSignal | undefined,
): Promise<Read> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size <= maxBytes) {
    const asked = reader.read();
    const read = await unless(enough, asked);
    if (!read) return { chunks, isWhole: false, asked };
    if (read.done) return { chunks, isWhole: true };
    chunks.push(read.value);
    size += read.value.length;
  }
  return { chunks, isWhole: false };
}

/** `undefined` if the flag is raised before the promise settles. */
function unless<T>(flag: StopSignal | undefined, promise: Promise<T>): Promise<T | undefined> {
  if (!flag) return promise;
  return new Promise((resolve, reject) => {
    const onRaised = () => resolve(undefined);
    if (flag.aborted) onRaised();
    flag.addEventListener("abort", onRaised, { once: true });
    promise.then(resolve, reject).finally(() => flag.removeEventListener("abort", onRaised));
  });
}

/** What was read, and then the rest as it comes. */
function goOn({ chunks, asked }: Read, reader: Reader): ReadableStream<Uint8Array> {
  let next = 0;
  let first = asked;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = chunks[next];
      next += 1;
      if (chunk) return controller.enqueue(chunk);
      const reading = first ?? reader.read();
      first = undefined;
      const { done, value } = await reading;
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
