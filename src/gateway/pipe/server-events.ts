/**
 * Server-sent events, each as one line.
 *
 * @module
 */

import { type Line, linesOf } from "./lines.ts";

export async function* eventsIn(
  body: AsyncIterable<Buffer>,
  maxBytes: number,
): AsyncGenerator<Line, void, undefined> {
  let data: string[] = [];
  let size = 0;
  const take = (): Line | undefined => {
    const bytes = Buffer.from(data.join(" "));
    const event: Line | undefined =
      size > maxBytes ? { tag: "too_long" } : size > 0 ? { tag: "line", bytes } : undefined;
    data = [];
    size = 0;
    return event;
  };
  for await (const line of linesOf(buffers(body), maxBytes)) {
    const text = line.tag === "line" ? line.bytes.toString().replace(/\r$/, "") : undefined;
    if (text === "") {
      const event = take();
      if (event) yield event;
    } else if (text === undefined) size = maxBytes + 1;
    else if (text.startsWith("data:")) {
      const part = text.slice(text.startsWith("data: ") ? 6 : 5);
      size += Buffer.byteLength(part);
      if (size <= maxBytes) data.push(part);
    }
  }
  const last = take();
  if (last) yield last;
}

async function* buffers(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of body) yield Buffer.from(chunk);
}
