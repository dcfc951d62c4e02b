/**
 * Between the provider's answer and its reader: tells what it cost, and keeps it where that is wanted.
 *
 * The reader sees the end only after the answer is kept: what it does then can rely on the record.
 *
 * @module
 */

import type { Engine } from "../../../engine/engine.ts";
import { keepSample, loseSample, type SamplePlace } from "../../../engine/loops/sample-record.ts";
import { peek } from "../../../lang/peek.ts";
import { type Answer, followAnswer, formOf } from "./answer.ts";

export interface Watched {
  readonly client: string;
  readonly step: string;
  readonly attempt: number;
  /** A model was asked; anything else costs nothing, unless it reads what a model was asked before. */
  readonly asks: boolean;
  /** Where the answer is to be kept. */
  readonly place: SamplePlace | undefined;
  /** The answer broke off. */
  readonly onBroken: () => void;
}

export function watchAnswer(response: Response, watched: Watched, engine: Engine): Response {
  const form = formOf(response);
  if (!form || typeof response.body?.getReader !== "function") return response;
  const { place } = watched;
  const answer = followAnswer(form);
  let told = false;
  let kept = false;

  function tell(partial: boolean): void {
    if (told) return;
    told = true;
    const { client, step, attempt } = watched;
    const tokens = answer.tokens();
    if (!watched.asks && !isBackground(answer)) return;
    if (tokens || partial) {
      engine.events.emit("usage", () => ({ client, step, attempt, ...tokens, partial }));
    }
  }

  /** Keeps the answer once; gives the text to be passed on, if it is another one. */
  async function keep(): Promise<string | undefined> {
    if (!place || kept || !answer.isGood()) return undefined;
    kept = true;
    const body = answer.text();
    if (body === undefined) {
      loseSample(place, "the answer is too long", engine);
      return undefined;
    }
    const contentType = response.headers.get("content-type") ?? undefined;
    const mine = { status: response.status, contentType, body, encoding: "utf8" as const };
    const canonical = await keepSample(place, mine, engine);
    return canonical.body === body ? undefined : canonical.body;
  }

  return watchBody(response, {
    async see(chunk) {
      answer.see(chunk);
      if (form !== "events" || !answer.isWhole()) return;
      await keep();
      tell(false);
    },
    async end() {
      answer.end();
      const other = await keep();
      tell(!answer.isWhole());
      if (!answer.isGood()) watched.onBroken();
      // Of a stream the reader has seen the rest already.
      return other !== undefined && form === "json" ? Buffer.from(other) : undefined;
    },
    broke() {
      if (!answer.isWhole()) watched.onBroken();
      tell(true);
    },
    // A JSON answer is nothing until it is whole, and another caller's may be the canonical one.
    holds: () => form === "json" && place !== undefined && answer.text() !== undefined,
  });
}

/** A background answer is paid for where it is read. */
const isBackground = (answer: Answer): boolean => peek(answer.value(), "background") === true;

export interface Watcher {
  /** Called before the chunk is passed on; what it waits for holds the chunk back. */
  see(chunk: Uint8Array): Promise<void> | void;
  /** The body ended; what is returned is passed on last. */
  end(): Promise<Uint8Array | undefined>;
  /** The body broke off, or its reader has stopped. */
  broke(): void;
  /** Keep back what was seen: `end` says what is passed on instead. */
  holds(): boolean;
}

/** The same answer, whose body is watched. The reader's pace and its cancelling stay its own. */
export function watchBody(response: Response, watcher: Watcher): Response {
  const { body, status, statusText, headers, url } = response;
  if (!body) return response;
  const reader = body.getReader();
  let held: Uint8Array[] = [];

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        const last = await watcher.end();
        if (last) controller.enqueue(last);
        else for (const chunk of held) controller.enqueue(chunk);
        controller.close();
        return;
      }
      await watcher.see(value);
      held.push(value);
      if (watcher.holds()) continue;
      for (const chunk of held) controller.enqueue(chunk);
      held = [];
      return;
    }
  }

  const watched = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          await pull(controller);
        } catch (error) {
          watcher.broke();
          throw error;
        }
      },
      cancel(reason) {
        watcher.broke();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  const passed = new Response(watched, { status, statusText, headers });
  // A response made by hand has no address of its own.
  Object.defineProperty(passed, "url", { value: url, configurable: true });
  return passed;
}
