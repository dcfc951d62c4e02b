/**
 * Loads something from the server for a view, again on demand and when something changes, which is told on one connection
 * for all views.
 *
 * @module
 */

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Problem } from "../model.ts";
import { type Answered, follow, get, type Live } from "./api.ts";

export type Loaded<T> =
  | { readonly tag: "loading" }
  | { readonly tag: "there"; readonly value: T; readonly problem?: Problem | undefined }
  | { readonly tag: "failed"; readonly problem: Problem };

/** Changes that come together are loaded together. */
const TOGETHER_MS = 250;

export function useLoaded<T>(
  path: string,
  concerns: (id: string) => boolean = () => true,
): { readonly loaded: Loaded<T>; readonly again: () => Promise<void> } {
  const [loaded, set] = useState<Loaded<T>>({ tag: "loading" });
  const asked = useRef(0);
  const again = useCallback(async () => {
    const own = ++asked.current;
    const answered = await get<T>(path);
    if (own === asked.current) set((before) => next(before, answered));
  }, [path]);
  useEffect(() => {
    set({ tag: "loading" });
    void again();
  }, [again]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useLive(
    (what) => {
      if (what === "lost" || (what !== "ready" && !concerns(what.id))) return;
      clearTimeout(timer.current);
      timer.current = setTimeout(() => void again(), TOGETHER_MS);
    },
    [again],
  );
  return { loaded, again };
}

/** What was there stays there when it cannot be loaded again; the problem is told beside it. */
function next<T>(before: Loaded<T>, answered: Answered<T>): Loaded<T> {
  if (answered.ok) return { tag: "there", value: answered.value };
  const { problem } = answered;
  return before.tag === "there" ? { ...before, problem } : { tag: "failed", problem };
}

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
