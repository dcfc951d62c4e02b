/**
 * Watches a stream of parts: the reader's pace, its cancelling and the stream's errors stay as they are.
 *
 * @module
 */

/** `ended` is called once: `partial` if the stream broke off or its reader has left. */
export function watchStream<T>(
  stream: ReadableStream<T>,
  see: (part: T) => void,
  ended: (partial: boolean) => void,
): ReadableStream<T> {
  const reader = stream.getReader();
  return new ReadableStream<T>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            ended(false);
            controller.close();
            return;
          }
          see(value);
          controller.enqueue(value);
        } catch (error) {
          ended(true);
          throw error;
        }
      },
      async cancel(reason) {
        ended(true);
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
