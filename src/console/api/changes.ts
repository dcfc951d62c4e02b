/**
 * What changes in the ledger, as server-sent events. However many pages follow, the ledger is looked at once; while none
 * does, not at all.
 *
 * Events: `ready` when the first look is done (what a page lists after it misses nothing), `changed` with an operation,
 * `failed` when the ledger does not answer. A page that does not keep up is dropped, and starts again.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { changesIn } from "../../describe/changes.ts";
import { engineOf } from "../../engine/engine-of.ts";
import { sleep } from "../../lang/clock.ts";
import { rowOf } from "./rows.ts";

export interface Followers {
  follow(): ReadableStream<Uint8Array>;
}

const EVERY_MS = 1_000;
/** A proxy ends a connection on which nothing comes. */
const SIGN_OF_LIFE_MS = 15_000;
/** Events that a page may be behind. */
const MOST_BEHIND = 5_000;

type Controller = ReadableStreamDefaultController<Uint8Array>;

const encoder = new TextEncoder();
const eventOf = (name: string, data: unknown): Uint8Array =>
  encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
const READY = eventOf("ready", {});
const FAILED = eventOf("failed", {});
const LIFE = encoder.encode(": still here\n\n");

export function createFollowers(hf: Holdfire): Followers {
  const pages = new Set<Controller>();
  /** Of the loop that looks; `undefined` while no page follows. */
  let looking: { readonly stop: AbortController; isReady: boolean } | undefined;

  function send(page: Controller, event: Uint8Array): void {
    if ((page.desiredSize ?? 0) > 0) page.enqueue(event);
    else drop(page);
  }

  function drop(page: Controller): void {
    if (!pages.delete(page)) return;
    page.close();
    leave();
  }

  function leave(): void {
    if (pages.size > 0) return;
    looking?.stop.abort();
    looking = undefined;
  }

  async function look(own: NonNullable<typeof looking>): Promise<void> {
    const { clock } = engineOf(hf);
    const { signal } = own.stop;
    const changes = changesIn(hf, signal);
    let toldAt = clock.monotonic();
    while (!signal.aborted) {
      const changed = await changes();
      const isFirst = !own.isReady;
      own.isReady = true;
      const events = isFirst ? [READY] : changed.map((one) => eventOf("changed", rowOf(one)));
      const isQuiet = events.length === 0 && clock.monotonic() - toldAt >= SIGN_OF_LIFE_MS;
      if (isQuiet) events.push(LIFE);
      if (events.length > 0) toldAt = clock.monotonic();
      for (const page of [...pages])
        for (const event of events) if (pages.has(page)) send(page, event);
      await sleep(clock, EVERY_MS, signal);
    }
  }

  function start(): NonNullable<typeof looking> {
    const own = { stop: new AbortController(), isReady: false };
    look(own).catch(() => {
      // The ledger does not answer, or the holdfire was closed: the pages ask again.
      if (looking !== own) return;
      for (const page of [...pages]) {
        send(page, FAILED);
        drop(page);
      }
    });
    return own;
  }

  return {
    follow() {
      let own: Controller;
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            own = controller;
            pages.add(own);
            looking ??= start();
            if (looking.isReady) send(own, READY);
          },
          cancel() {
            pages.delete(own);
            leave();
          },
        },
        new CountQueuingStrategy({ highWaterMark: MOST_BEHIND }),
      );
    },
  };
}
