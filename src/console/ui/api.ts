/**
 * How the page speaks with its server: with the token of the address it was opened under, where there is one.
 *
 * @module
 */

import { sseReader } from "../../integrations/shared/stainless/sse.ts";
import type { OperationRow, Problem } from "../model.ts";

const KEPT_AS = "holdfire-console-token";

/** Takes the token out of the address, so that it is not copied with it. */
export function takeToken(): void {
  const token = /^#token=([\w-]+)/.exec(location.hash)?.[1];
  if (token === undefined) return;
  localStorage.setItem(KEPT_AS, token);
  history.replaceState(null, "", `${location.pathname}#/inbox`);
}

const headers = (): Record<string, string> => {
  const token = localStorage.getItem(KEPT_AS);
  return token === null ? {} : { authorization: `Bearer ${token}` };
};

export type Answered<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly status: number; readonly problem: Problem };

export const get = <T>(path: string): Promise<Answered<T>> => send(path, { headers: headers() });

export const post = <T>(path: string, body: object): Promise<Answered<T>> =>
  send(path, {
    method: "POST",
    headers: { ...headers(), "content-type": "application/json", "x-holdfire-console": "1" },
    body: JSON.stringify(body),
  });

async function send<T>(path: string, init: RequestInit): Promise<Answered<T>> {
  try {
    const response = await fetch(path, init);
    const value: unknown = await response.json();
    if (response.ok) return { ok: true, value: value as T };
    return { ok: false, status: response.status, problem: value as Problem };
  } catch {
    const hint = "Is holdfire console still running? The page tries again by itself.";
    return { ok: false, status: 0, problem: { error: "The console does not answer.", hint } };
  }
}

export type Live = "ready" | "lost" | OperationRow;

const AGAIN_MS = 2_000;

/** Tells what changes, for ever: after a break it begins again with `ready`. */
export async function follow(tell: (what: Live) => void): Promise<never> {
  for (;;) {
    try {
      const { body, ok } = await fetch("api/changes", { headers: headers() });
      const chunks = ok ? body?.getReader() : undefined;
      const events = sseReader();
      for (let part = await chunks?.read(); part && !part.done; part = await chunks?.read()) {
        for (const data of events.read(part.value)) {
          const told = JSON.parse(data) as Partial<OperationRow>;
          tell(told.id === undefined ? "ready" : (told as OperationRow));
        }
      }
    } catch {
      // Told below, and tried again.
    }
    tell("lost");
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
