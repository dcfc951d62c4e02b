/**
 * Between the provider's answer and its reader: tells what it cost, and keeps it where that is wanted.
 *
 * The reader sees the end only after the answer is kept: what it does then can rely on the record. So can a reader
 * that leaves a stream: it acts on what it has read, and that much is kept.
 *
 * @module
 */

import type { Engine } from "../../../engine/engine.ts";
import type { ModelCall } from "../../../engine/reads-and-samples/model-call.ts";
import {
  keepSample,
  loseSample,
  sampleFacts,
} from "../../../engine/reads-and-samples/sample-record.ts";
import { LeaseLostError } from "../../../errors.ts";
import { peek } from "../../../lang/peek.ts";
import { followAnswer, formOf, type ModelAnswer } from "./answer.ts";
import type { AskedModel } from "./asked-model.ts";
import type { RecordedRequest } from "./recorded-step.ts";

export interface Watched {
  readonly asked: AskedModel;
  readonly attempt: number;
  /** A model was asked; anything else costs nothing, unless it reads what a model was asked before. */
  readonly asks: boolean;
  /** The request, if its answer is to be kept. */
  readonly recorded: RecordedRequest | undefined;
}

/** `call` ends with the answer. */
export function watchAnswer(
  response: Response,
  watched: Watched,
  call: ModelCall,
  engine: Engine,
): Response {
  const form = formOf(response);
  if (!form || typeof response.body?.getReader !== "function") {
    call.ended();
    return response;
  }
  const { recorded } = watched;
  const answer = followAnswer(form);
  let told = false;
  let kept = false;

  function tell(partial: boolean): void {
    if (told) return;
    told = true;
    const { asked, attempt } = watched;
    const tokens = answer.tokens();
    call.ended({ ...tokens, responseModel: answer.model(), partial });
    if (!watched.asks && !isBackground(answer)) return;
    if (tokens || partial) {
      engine.events.emit("usage", () => ({ ...asked, attempt, ...tokens, partial }));
    }
  }

  /** Keeps the answer once; gives the text to be passed on, if another run has kept another one. */
  async function keep(): Promise<string | undefined> {
    if (!recorded || kept) return undefined;
    kept = true;
    const step = recorded.take();
    const body = answer.text();
    if (body === undefined) {
      loseSample(step, "the answer is too long", engine);
      return undefined;
    }
    const contentType = response.headers.get("content-type") ?? undefined;
    const mine = { status: response.status, contentType, body, encoding: "utf8" as const };
    const canonical = await keepSample(step, mine, engine);
    if (canonical.body === body) return undefined;
    if (form === "json" || answer.isCut()) return canonical.body;
    // Its reader has seen most of this one, and must not act on it: asked again, it gets the other.
    step.free();
    throw new LeaseLostError(sampleFacts(step, engine));
  }

  return watchBody(response, {
    async see(chunk) {
      answer.see(chunk);
      if (form !== "events" || !answer.isWhole()) return;
      tell(false);
      await keep();
    },
    async end() {
      answer.end();
      tell(!answer.isWhole());
      const other = answer.isGood() ? await keep() : undefined;
      return other === undefined ? undefined : Buffer.from(other);
    },
    broke: () => tell(true),
    async left() {
      tell(true);
      if (answer.isCut()) await keep();
    },
    // A JSON answer is nothing until it is whole, and another caller's may be the canonical one.
    holds: () => form === "json" && recorded !== undefined && answer.text() !== undefined,
  });
}

/** A background answer is paid for where it is read. */
const isBackground = (answer: ModelAnswer): boolean => peek(answer.value(), "background") === true;

export interface Watcher {
  /** Called before the chunk is passed on; what it waits for holds the chunk back. */
  see(chunk: Uint8Array): Promise<void> | void;
  /** The body ended; what is returned is passed on last. */
  end(): Promise<Uint8Array | undefined>;
  /** The body broke off. */
  broke(): void;
  /** Its reader has left; it is told so after what this waits for. */
  left(): Promise<void>;
  /** Keep back what was seen: `end` says what is passed on instead. */
  holds(): boolean;
}

/** The same answer, whose body is watched. The reader's pace and its cancelling stay its own. */
export function watchBody(response: Response, watcher: Watcher): Response {
  const { body, status, statusText, headers, url } = response;
  if (!body) return response;
  const reader = body.getReader();
  let held: Uint8Array[] = [];
  let isLeft = false;

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read();
      // What comes now is the end of reading, not of the body.
      if (isLeft) return;
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
          // Where it was the watcher that ended it, the rest would hold the connection.
          reader.cancel(error).catch(() => {});
          throw error;
        }
      },
      async cancel(reason) {
        isLeft = true;
        await Promise.all([reader.cancel(reason), watcher.left()]);
      },
    },
    { highWaterMark: 0 },
  );
  const passed = new Response(watched, { status, statusText, headers });
  // A response made by hand has no address of its own.
  Object.defineProperty(passed, "url", { value: url, configurable: true });
  return passed;
}
