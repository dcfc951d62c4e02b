/**
 * The body of a request as bytes, read once: they are hashed, and every attempt sends the same.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { digestOf, encodeForm, partsOf, sizeOf } from "./form.ts";

export interface Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What the platform would say of it where the caller says nothing. */
  readonly contentType: string | undefined;
  /** Of a form: what it holds, without its boundary. */
  readonly form?: string | undefined;
}

export type BodyReader = (signal: AbortSignal | undefined) => Promise<Body>;

/** Takes the copy at once: what the caller changes afterwards changes nothing. */
export function takeBody(body: unknown, maxBytes: number): BodyReader {
  if (body instanceof FormData) {
    const entries = [...body];
    return async () => {
      if (sizeOf(entries) > maxBytes) throw tooLong(maxBytes);
      const parts = await partsOf(entries);
      const encoded = encodeForm(parts);
      if (encoded.bytes.byteLength > maxBytes) throw tooLong(maxBytes);
      return { ...encoded, form: digestOf(parts) };
    };
  }
  const carrier = new Response(body as ConstructorParameters<typeof Response>[0]);
  const contentType = carrier.headers.get("content-type") ?? undefined;
  return async (signal) => ({
    bytes: await readAll(carrier.body, maxBytes, signal),
    contentType,
  });
}

async function readAll(
  stream: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = stream?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const leave = () => void reader?.cancel(signal?.reason).catch(() => {});
  signal?.addEventListener("abort", leave, { once: true });
  try {
    while (reader) {
      const { done, value } = await reader.read();
      signal?.throwIfAborted();
      if (done) break;
      size += value.byteLength;
      if (size > maxBytes) throw tooLong(maxBytes);
      chunks.push(value);
    }
  } catch (error) {
    leave();
    throw error;
  } finally {
    signal?.removeEventListener("abort", leave);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

const tooLong = (maxBytes: number): InvalidInputError =>
  new InvalidInputError(
    "init.body",
    `must not be longer than ${maxBytes} bytes, for it is kept to be sent again. Raise maxBodyBytes, or send it without holdfire`,
  );

/** A form that came as bytes has a boundary of its own; what it holds is what counts. */
export async function formDigest(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<string | undefined> {
  if (!contentType.toLowerCase().startsWith("multipart/form-data")) return undefined;
  try {
    const carrier = new Response(bytes, { headers: { "content-type": contentType } });
    return digestOf(await partsOf([...(await carrier.formData())]));
  } catch {
    return undefined;
  }
}
