/**
 * A form as bytes that are the same every time. The platform draws a new boundary for each request, so
 * that the same form would never look the same to a service that remembers keys.
 *
 * @module
 */

import { createHash } from "node:crypto";

export interface Part {
  readonly head: string;
  readonly bytes: Uint8Array;
}

type Entry = readonly [name: string, value: string | File];

export function sizeOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, [name, value]) => {
    return sum + name.length + (typeof value === "string" ? value.length : value.size);
  }, 0);
}

export const partsOf = (entries: readonly Entry[]): Promise<readonly Part[]> =>
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

/** Says the same of the same parts, whatever stands between them. */
export function digestOf(parts: readonly Part[]): string {
  const sum = createHash("sha256");
  for (const { head, bytes } of parts) {
    sum.update(`${Buffer.byteLength(head)}:${head}${bytes.byteLength}:`).update(bytes);
  }
  return sum.digest("base64url");
}

/** The boundary follows from the parts, so no part can hold it. */
export function encodeForm(parts: readonly Part[]): {
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
