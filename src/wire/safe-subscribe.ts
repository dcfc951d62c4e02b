/**
 * Subscribes to a diagnostics channel without ever throwing into the client that publishes:
 * observing must not change what happens.
 *
 * @module
 */

import { subscribe } from "node:diagnostics_channel";

export function subscribeSafely<Message>(
  channel: string,
  listener: (message: Message) => void,
): void {
  subscribe(channel, (message) => {
    try {
      listener(message as Message);
    } catch {
      // see the header
    }
  });
}
