/**
 * Reads the data of server-sent events as they come, however the bytes are cut.
 *
 * @module
 */

/** A longer event is passed over, so that no server can make a reader hold more than this, in characters. */
const LONGEST_EVENT = 1_048_576;

export interface SseReader {
  /** The data of each event that is complete with this chunk. */
  read(chunk: Uint8Array): readonly string[];
  /** The last event, if the body ended without the empty line after it. */
  end(): readonly string[];
}

export function sseReader(): SseReader {
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  let length = 0;
  let tooLong = false;

  function take(line: string, events: string[]): void {
    if (line === "") {
      if (data.length > 0 && !tooLong) events.push(data.join("\n"));
      data = [];
      length = 0;
      tooLong = false;
    } else if (line.startsWith("data:")) {
      const text = line.startsWith("data: ") ? line.slice(6) : line.slice(5);
      length += text.length;
      if (length > LONGEST_EVENT) tooLong = true;
      else data.push(text);
    }
  }

  function lines(text: string): readonly string[] {
    const events: string[] = [];
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    for (const part of parts) take(part.endsWith("\r") ? part.slice(0, -1) : part, events);
    if (rest.length > LONGEST_EVENT) {
      tooLong = true;
      rest = "";
    }
    return events;
  }

  return {
    read: (chunk) => lines(decoder.decode(chunk, { stream: true })),
    end: () => lines(`${decoder.decode()}\n\n`),
  };
}
