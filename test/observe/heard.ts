/**
 * Collects the events of a holdfire, to be asked by name and by tag: a warning's code, or a status.
 *
 * @module
 */

import type { EventName, Events, HoldfireEvents } from "../../src/observe/events.ts";

type TagOf<E> = E extends { readonly code: infer C }
  ? C
  : E extends { readonly status: infer S extends string }
    ? S
    : never;

type Tagged<E, T> = E extends { readonly code: unknown }
  ? E & { readonly code: T }
  : E & { readonly status: T };

export interface Heard {
  <N extends EventName>(name: N): HoldfireEvents[N][];
  <N extends EventName, T extends TagOf<HoldfireEvents[N]>>(
    name: N,
    tag: T,
  ): Tagged<HoldfireEvents[N], T>[];
}

/** All of them; the type sees to it that none is forgotten. */
const NAMES: { readonly [N in EventName]: true } = {
  operation: true,
  outcome: true,
  attempt: true,
  verdict: true,
  late: true,
  read: true,
  waiting: true,
  takeover: true,
  duplicate: true,
  approval: true,
  model_call: true,
  model_answer: true,
  sample: true,
  usage: true,
  store: true,
  warning: true,
  reconcile: true,
  drift: true,
};

export const EVENT_NAMES: readonly EventName[] = Object.keys(NAMES) as EventName[];

/** Listens from now on. */
export function listen(hf: Pick<Events, "on">): Heard {
  const heard: { readonly name: EventName; readonly event: object }[] = [];
  for (const name of EVENT_NAMES) hf.on(name, (event) => heard.push({ name, event }));
  const ask = (name: EventName, tag?: string) =>
    heard
      .filter((one) => one.name === name)
      .map(({ event }) => event as { readonly code?: string; readonly status?: string })
      .filter((event) => tag === undefined || (event.code ?? event.status) === tag);
  return ask as Heard;
}
