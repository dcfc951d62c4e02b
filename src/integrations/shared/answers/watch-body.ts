/**
 * Passes a body on while somebody follows it. The reader's pace and its cancelling stay its own.
 *
 * @module
 */

export interface Watcher {
  /** Called before the chunk is passed on; what it waits for holds the chunk back. */
  see(chunk: Uint8Array): Promise<void> | void;
  /** The body ended; what is returned is passed on last. */
  end(): Promise<Uint8Array | undefined>;
  /** The body broke off, or nobody reads on. */
  broke(): void;
  /** Keep back what was seen: `end` says what is passed on instead. */
  holds(): boolean;
}

/** The same answer with another body. */
export function watchBody(response: Response, watcher: Watcher): Response {
  const { body, status, statusText, headers, url } = response;
  if (!body) return response;
  const reader = body.getReader();
  let held: Uint8Array[] = [];

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        const last = await watcher.end();
        if (last) controller.enqueue(last);
        else for (const chunk of held) controller.enqueue(chunk);
        controller.close();
        return;
      }
      await watcher.see(value);
      held.push(value);
      if (watcher.holds()) continue;
      for (const chunk of held) controller.enqueue(chunk);
      held = [];
      return;
    }
  }

  const watched = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          await pull(controller);
        } catch (error) {
          watcher.broke();
          throw error;
        }
      },
      cancel(reason) {
        watcher.broke();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const passed = new Response(watched, { status, statusText, headers });
  // A response made by hand has no address of its own.
  Object.defineProperty(passed, "url", { value: url, configurable: true });
  return passed;
}
