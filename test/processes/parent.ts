/**
 * The other end of `child.ts`: what a script of the tests sees of the process that started it.
 *
 * @module
 */

import type { Message } from "./child.ts";

/** The next message of this tag. As long as somebody may send one, the process lives. */
export function hear<T extends Message>(tag: T["tag"]): Promise<T> {
  return new Promise((resolve) => {
    const listener = (message: unknown): void => {
      const told = message as Message;
      if (told.tag !== tag) return;
      process.off("message", listener);
      resolve(told as T);
    };
    process.on("message", listener);
  });
}

/** Resolves once it is on its way. */
export function tell<T extends Message>(message: T): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(message, undefined, undefined, (error) => (error ? reject(error) : resolve()));
  });
}

/** Nothing more is to be heard: the process may end. */
export function hangUp(): void {
  process.disconnect();
}
