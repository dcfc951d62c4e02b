/**
 * Requests of the host that are under way, up to as many as fit in memory: a server that does not answer, or a host that
 * does not wait, must not fill it.
 *
 * @module
 */

export interface UnderWay {
  /** Whether one more request of so many bytes may begin. */
  hasRoom(bytes: number): boolean;
  run(work: Promise<void>, bytes: number): void;
  /** Resolves when all have ended. */
  idle(): Promise<void>;
}

const MOST_REQUESTS = 1_000;
const MOST_BYTES = 256 * 1024 * 1024;

/** What a request is answered with for which there is no room. */
export const NO_ROOM = {
  code: -32000,
  message:
    "Nothing was sent: too many requests are under way. Ask again when some of them are answered.",
} as const;

export function createUnderWay(): UnderWay {
  const works = new Set<Promise<void>>();
  let size = 0;
  return {
    hasRoom: (bytes) =>
      works.size === 0 || (works.size < MOST_REQUESTS && size + bytes <= MOST_BYTES),
    run(work, bytes) {
      size += bytes;
      const settled = work
        .catch(() => {})
        .then(() => {
          works.delete(settled);
          size -= bytes;
        });
      works.add(settled);
    },
    async idle() {
      while (works.size > 0) await Promise.allSettled(works);
    },
  };
}
