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
  isClosed(): boolean;
  end(): void;
}

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
    isClosed: () => failed !== undefined || stream.writableEnded,
    end: () => void (stream.writableEnded || stream.end()),
  };
}
