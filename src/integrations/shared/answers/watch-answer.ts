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
import { type Answer, followAnswer, formOf } from "./follow-answer.ts";
import { watchBody } from "./watch-body.ts";

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
