/**
 * What a program prints, up to a bound: text, or bytes in base64 where it is not UTF-8.
 *
 * @module
 */

import type { Readable } from "node:stream";

export type Printed = { readonly truncated: boolean } & (
  | { readonly text: string; readonly base64?: undefined }
  | { readonly text?: undefined; readonly base64: string }
);

export const NOTHING_PRINTED: Printed = { text: "", truncated: false };

/** Goes on reading past the limit, so that the program does not hang, and forgets what it reads. */
export function collect(stream: Readable, limit: number): () => Printed {
  const chunks: Buffer[] = [];
  let size = 0;
  let truncated = false;
  stream.on("data", (chunk: Buffer) => {
    const room = limit - size;
    if (chunk.length > room) truncated = true;
    if (room <= 0) return;
    const kept = chunk.subarray(0, room);
    chunks.push(kept);
    size += kept.length;
  });
  // A broken pipe is the end of what was said.
  stream.on("error", () => {});
  return () => printed(Buffer.concat(chunks), truncated, limit);
}

function printed(bytes: Buffer, truncated: boolean, limit: number): Printed {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    // The bound may cut a character in two; that part of one is left out.
    return { text: decoder.decode(bytes, { stream: truncated }), truncated };
  } catch {
    // Base64 is longer than its bytes: the bound holds for what is kept.
    const kept = bytes.subarray(0, Math.floor(limit / 4) * 3);
    return { base64: kept.toString("base64"), truncated: truncated || kept.length < bytes.length };
  }
}

/** As one text: bytes stand in it as a data URL. */
export const asText = ({ text, base64 }: Printed): string =>
  text ?? `data:application/octet-stream;base64,${base64}`;
