/**
 * A stream of bytes, cut at its newlines: one message of MCP over stdio is one line.
 *
 * Nothing is read ahead of whoever takes the lines, so a side that does not read holds up the other one, and memory
 * is bounded by the longest line.
 *
 * @module
 */

export type Line =
  | { readonly tag: "line"; readonly bytes: Buffer }
  /** A line that was longer than allowed. It was dropped. */
  | { readonly tag: "too_long" };

const NEWLINE = 0x0a;

export async function* linesOf(
  stream: AsyncIterable<Buffer | string>,
  maxBytes: number,
): AsyncGenerator<Line, void, undefined> {
  let parts: Buffer[] = [];
  let size = 0;
  const take = (): Line => {
    const line: Line =
      size > maxBytes ? { tag: "too_long" } : { tag: "line", bytes: Buffer.concat(parts) };
    parts = [];
    size = 0;
    return line;
  };
  const add = (part: Buffer): void => {
    size += part.length;
    if (size <= maxBytes) parts.push(part);
    else parts = [];
  };
  for await (const read of stream) {
    const chunk = typeof read === "string" ? Buffer.from(read) : read;
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      add(chunk.subarray(from, at));
      from = at + 1;
      yield take();
    }
    if (from < chunk.length) add(chunk.subarray(from));
  }
  if (size > 0) yield take();
}
