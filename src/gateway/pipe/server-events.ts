/**
 * Server-sent events, each as one line.
 *
 * @module
 */

import { type Line, linesOf } from "./lines.ts";

/** How far a stream was read, and how soon it may be asked for again. */
export interface StreamPosition {
  /** Of the last event that had an id: what comes after it can be asked for. */
  lastEventId?: string | undefined;
  /** What the server wants waited before that, in milliseconds. */
  retryMs?: number | undefined;
}

/** @param position is kept up to date */
export async function* eventsIn(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  position: StreamPosition = {},
): AsyncGenerator<Line, void, undefined> {
  let data: string[] = [];
  let size = 0;
  let isMessage = true;
  let id: string | undefined;
  const take = (): Line | undefined => {
    const bytes = Buffer.from(data.join(" "));
    const hasData = isMessage && size > 0;
    const event: Line | undefined =
      hasData && size > maxBytes
        ? { tag: "too_long" }
        : hasData
          ? { tag: "line", bytes }
          : undefined;
    position.lastEventId = id ?? position.lastEventId;
    data = [];
    size = 0;
    isMessage = true;
    id = undefined;
    return event;
  };
  for await (const line of linesOf(buffers(body), maxBytes)) {
    const text = line.tag === "line" ? line.bytes.toString().replace(/\r$/, "") : undefined;
    if (text === "") {
      const event = take();
      if (event) yield event;
      continue;
    }
    if (text === undefined) {
      size = maxBytes + 1;
      continue;
    }
    const [name, value] = fieldIn(text);
    if (name === "data") {
      size += Buffer.byteLength(value);
      if (size <= maxBytes) data.push(value);
    } else if (name === "event") isMessage = value === "message" || value === "";
    else if (name === "id" && isHeaderValue(value)) id = value;
    else if (name === "retry" && /^\d{1,9}$/.test(value)) position.retryMs = Number(value);
  }
  const last = take();
  if (last) yield last;
}

function fieldIn(text: string): readonly [name: string, value: string] {
  const colon = text.indexOf(":");
  if (colon < 0) return [text, ""];
  const value = text.slice(colon + 1);
  return [text.slice(0, colon), value.startsWith(" ") ? value.slice(1) : value];
}

/** It is sent back in a header. */
const isHeaderValue = (id: string): boolean => /^[\x20-\x7e]{1,1024}$/.test(id);

async function* buffers(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of body) yield Buffer.from(chunk);
}
