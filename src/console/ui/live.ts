/**
 * The one connection on which changes are told, shared by all views.
 *
 * @module
 */

import { useEffect, useState } from "preact/hooks";
import { follow, type Live } from "./api.ts";

const listeners = new Set<(what: Live) => void>();
let isConnected = false;
let isStarted = false;

function start(): void {
  if (isStarted) return;
  isStarted = true;
  void follow((what) => {
    isConnected = what !== "lost";
    for (const listener of listeners) listener(what);
  });
}

/** Calls `hear` with each change, and with `ready` each time the connection has begun. */
export function useLive(hear: (what: Live) => void, deps: readonly unknown[] = []): void {
  useEffect(() => {
    listeners.add(hear);
    start();
    if (isConnected) hear("ready");
    return () => void listeners.delete(hear);
  }, [...deps]);
}

export function useConnected(): boolean {
  const [is, set] = useState(isConnected);
  useLive(() => set(isConnected));
  return is;
}
