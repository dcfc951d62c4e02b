/**
 * Listeners that are removed together.
 *
 * @module
 */

import type { EventName, Events, Listener } from "../events.ts";

export interface Listening {
  on<N extends EventName>(name: N, listener: Listener<N>): void;
  stop(): void;
}

export function listening(to: Pick<Events, "on">): Listening {
  const stops: (() => void)[] = [];
  return {
    on(name, listener) {
      stops.push(to.on(name, listener));
    },
    stop() {
      for (const stop of stops.splice(0)) stop();
    },
  };
}
