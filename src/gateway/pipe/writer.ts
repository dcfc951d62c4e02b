/**
 * Writes lines to a stream, one after the other. Each write resolves when the line has left this process, so that
 * whoever waits for it reads no faster than the other side does.
 *
 * @module
 */

import type { Writable } from "node:stream";

export interface Writer {
  /** Rejects if the other side is gone. */
  write(line: string | Buffer): Promise<void>;
  /** Resolves when what waits to be read by the other side is not much, or when it is gone. */
  ready(): Promise<void>;
  isClosed(): boolean;
  end(): void;
}

const MUCH_BYTES = 1024 * 1024;

const NEWLINE = Buffer.from("\n");

export function writerTo(stream: Writable): Writer {
  let failed: Error | undefined;
  // Each write is told of its own failure.
  stream.on("error", (error: Error) => {
    failed ??= error;
  });
  stream.on("close", () => {
    failed ??= new Error("The stream is closed.");
  });
  return {
    write: (line) =>
      new Promise((resolve, reject) => {
        if (failed || stream.writableEnded) {
          reject(failed ?? new Error("The stream has ended."));
          return;
        }
        const whole =
          typeof line === "string" ? Buffer.from(`${line}\n`) : Buffer.concat([line, NEWLINE]);
        stream.write(whole, (error) => (error ? reject(error) : resolve()));
      }),
    ready: () =>
      new Promise((resolve) => {
        if (failed || stream.writableLength < MUCH_BYTES) return resolve();
        const events = ["drain", "error", "close"] as const;
        const go = () => {
          for (const event of events) stream.off(event, go);
          resolve();
        };
        for (const event of events) stream.on(event, go);
      }),
    isClosed: () => failed !== undefined || stream.writableEnded,
    end: () => void (stream.writableEnded || stream.end()),
  };
}
