/**
 * The body of a request as bytes, read once: they are hashed, and every attempt sends the same.
 *
 * A form is encoded here: the platform draws a new boundary for each request, so that the same form would never
 * look the same to a service that remembers keys.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { InvalidInputError } from "../../errors.ts";

export interface Body {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What the platform would say of it where the caller says nothing. */
  readonly contentType: string | undefined;
  /** Of a form: what it holds, without its boundary. */
  readonly form?: string | undefined;
}

/** No promise of a text, which is there already. */
export type BodyReader = (signal: AbortSignal | undefined) => Body | Promise<Body>;

const TEXT = "text/plain;charset=UTF-8";

/** Takes the copy at once: what the caller changes afterwards changes nothing. */
export function takeBody(body: unknown, maxBytes: number): BodyReader {
  if (typeof body === "string") {
    return () => {
      const bytes = new TextEncoder().encode(body);
      if (bytes.byteLength > maxBytes) throw tooLong(maxBytes);
      return { bytes, contentType: TEXT };
    };
  }
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
    `must not be longer than ${maxBytes} bytes, for it is kept to be sent again. Raise maxBodyBytes, or send it without holdfire.`,
  );

/** A form that came as bytes has a boundary of its own; what it holds is what counts. Anything else has no such digest. */
export function formDigest(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): undefined | Promise<string | undefined> {
  const isForm = contentType.toLowerCase().startsWith("multipart/form-data");
  return isForm ? digestOfForm(bytes, contentType) : undefined;
}

async function digestOfForm(
  bytes: Uint8Array<ArrayBuffer>,
  contentType: string,
): Promise<string | undefined> {
  try {
    const carrier = new Response(bytes, { headers: { "content-type": contentType } });
    return digestOf(await partsOf([...(await carrier.formData())]));
  } catch {
    return undefined;
  }
}

interface Part {
  readonly head: string;
  readonly bytes: Uint8Array;
}

type Entry = readonly [name: string, value: string | File];

function sizeOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, [name, value]) => {
    return sum + name.length + (typeof value === "string" ? value.length : value.size);
  }, 0);
}

const partsOf = (entries: readonly Entry[]): Promise<readonly Part[]> =>
  Promise.all(entries.map(partOf));

async function partOf([name, value]: Entry): Promise<Part> {
  const field = `Content-Disposition: form-data; name="${quotable(breaks(name))}"`;
  if (typeof value === "string") return { head: field, bytes: Buffer.from(breaks(value)) };
  const file = `; filename="${quotable(value.name)}"`;
  const type = `\r\nContent-Type: ${value.type || "application/octet-stream"}`;
  return { head: `${field}${file}${type}`, bytes: new Uint8Array(await value.arrayBuffer()) };
}

const breaks = (text: string): string => text.replace(/\r?\n|\r/g, "\r\n");

const quotable = (name: string): string =>
  name.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");

/** The same parts have the same digest, whatever stands between them. */
function digestOf(parts: readonly Part[]): string {
  const sum = createHash("sha256");
  for (const { head, bytes } of parts) {
    sum.update(`${Buffer.byteLength(head)}:${head}${bytes.byteLength}:`).update(bytes);
  }
  return sum.digest("base64url");
}

/** The boundary follows from the parts, so no part can hold it. */
function encodeForm(parts: readonly Part[]): {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly contentType: string;
} {
  const boundary = `holdfire-${digestOf(parts)}`;
  const chunks = parts.flatMap(({ head, bytes }) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
    bytes,
    Buffer.from("\r\n"),
  ]);
  const end = Buffer.from(`--${boundary}--\r\n`);
  return {
    bytes: new Uint8Array(Buffer.concat([...chunks, end])),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}
