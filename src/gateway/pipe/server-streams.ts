/**
 * What comes from a server that has an address: as the answer to a request, on the stream where it speaks first, and as
 * the rest of a stream that broke.
 *
 * @module
 */

import { type Clock, sleep } from "../../lang/clock.ts";
import { type Line, linesOf } from "./lines.ts";
import { type Id, type Message, messageOf, parseLine } from "./message.ts";
import { eventsIn, type StreamPosition } from "./server-events.ts";

/** A request that was posted. */
export interface Pending {
  readonly id: Id | undefined;
  readonly stop: AbortController;
  isAnswered: boolean;
}

export interface StreamParts {
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  /** A GET for events after these. */
  readonly open: (headers: Record<string, string>, stop: AbortSignal) => Promise<Response>;
  /** Hands a message on; resolves when there is room for the next. */
  readonly deliver: (line: Line, value: unknown, message: Message) => Promise<void>;
  readonly pending: ReadonlyMap<Id, Pending>;
}

export interface Streams {
  /** Hands on all that an answer has in it. */
  read(response: Response, position: StreamPosition, until?: Pending): Promise<void>;
  /** Where the server speaks first, until 2025-11-25. A server without it says so. */
  listen(stop: AbortSignal): Promise<void>;
  /** The rest of a stream that ended before the answer to a request was in it. */
  resume(request: Pending, position: StreamPosition): Promise<void>;
}

/** How often in a row the rest of a stream is asked for without an event. */
const MOST_RESUMPTIONS = 5;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

export function createStreams(parts: StreamParts): Streams {
  const { clock, maxMessageBytes, open, deliver, pending } = parts;

  async function read(
    response: Response,
    position: StreamPosition,
    until?: Pending,
  ): Promise<void> {
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    const body = response.body as unknown as AsyncIterable<Uint8Array> | null;
    if (!body) return;
    const lines = isStream
      ? eventsIn(body, maxMessageBytes, position)
      : linesOf(inOneLine(body), maxMessageBytes);
    for await (const line of lines) {
      if (line.tag === "too_long") {
        throw new Error(`The server sent a message of more than ${maxMessageBytes} bytes.`);
      }
      const value = parseLine(line.bytes);
      const message = messageOf(value);
      // An error page is no message.
      if (message.kind === "other") continue;
      const request = message.kind === "answer" ? pending.get(message.id) : undefined;
      if (request) request.isAnswered = true;
      await deliver(line, value, message);
      if (until?.isAnswered) return;
    }
  }

  /** Asks for a stream once, after the wait that the server wants. `false`: the server has none. */
  async function again(
    position: StreamPosition,
    waitMs: number,
    stop: AbortSignal,
    until?: Pending,
  ): Promise<boolean> {
    if (waitMs > 0) await sleep(clock, waitMs, stop);
    if (stop.aborted || until?.isAnswered) return false;
    const { lastEventId: id } = position;
    const headers = id === undefined ? undefined : { "last-event-id": id };
    const response = await open({ accept: "text/event-stream", ...headers }, stop).catch(() => {});
    if (response?.ok) await read(response, position, until).catch(() => {});
    else await response?.body?.cancel();
    return !response || response.ok;
  }

  const waitFor = ({ retryMs }: StreamPosition, times: number): number =>
    retryMs ?? Math.min(FIRST_WAIT_MS * 1.5 ** times, LONGEST_WAIT_MS);

  return {
    read,
    async listen(stop) {
      const position: StreamPosition = {};
      let isThere = await again(position, 0, stop);
      for (let times = 0; isThere; times += 1) {
        const { lastEventId: before } = position;
        isThere = await again(position, waitFor(position, times), stop);
        if (position.lastEventId !== before) times = 0;
      }
    },
    async resume(request, position) {
      const { signal } = request.stop;
      let isThere = true;
      for (let times = 0; isThere && times < MOST_RESUMPTIONS; times += 1) {
        const { lastEventId: before } = position;
        isThere = await again(position, waitFor(position, times), signal, request);
        if (position.lastEventId !== before) times = 0;
      }
      signal.throwIfAborted();
    },
  };
}

/** A JSON answer may have newlines in it. */
async function* inOneLine(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    const bytes = Buffer.from(chunk);
    for (const newline of ["\n", "\r"]) {
      for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at))
        bytes[at] = 32;
    }
    yield bytes;
  }
}
