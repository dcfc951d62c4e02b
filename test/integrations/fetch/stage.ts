/**
 * What the tests of the guarded fetch share: a counting server that can be told what to answer, and a
 * holdfire that does not wait long.
 *
 * @module
 */

import type { Holdfire } from "../../../src/create.ts";
import {
  createFetch,
  type Fetch,
  type FetchOptions,
} from "../../../src/integrations/fetch/index.ts";
import type { Answer, CountingServer } from "../../servers/counting-server.ts";
import { openHoldfire, serve } from "../shared/owning.ts";

export const DAY_MS = 86_400_000;
export const keyed: { readonly forMs: number } = { forMs: DAY_MS };

export interface FetchStage {
  readonly hf: Holdfire;
  readonly server: CountingServer;
  readonly fetch: Fetch;
  /** Calls inside the scope "job". */
  inJob(path: string, init?: RequestInit): Promise<Response>;
}

/** One answer after another; the last one from then on. */
export const inTurn =
  (...answers: readonly Answer[]): Answer =>
  (response, arrival, nth) =>
    answers[Math.min(nth, answers.length) - 1]?.(response, arrival, nth);

export const status =
  (code: number, headers: Record<string, string> = {}, body = ""): Answer =>
  (response) =>
    response.writeHead(code, headers).end(body);

export const created: Answer = (response, _, nth) =>
  response
    .writeHead(201, { "content-type": "application/json", "x-trace": `t${nth}` })
    .end(`{"id":"re_${nth}"}`);

export const reset: Answer = (response) => response.socket?.destroy();

export async function openFetch(
  answer: Answer,
  options: FetchOptions = {},
  hf: Holdfire = openHoldfire(),
): Promise<FetchStage> {
  const server = await serve(answer);
  const fetch = createFetch(hf, options);
  return {
    hf,
    server,
    fetch,
    inJob: (path, init) => hf.scope("job", () => fetch(`${server.url}${path}`, init)),
  };
}

export const post = (
  body: NonNullable<RequestInit["body"]>,
  headers: Record<string, string> = {},
): RequestInit => ({ method: "POST", body, headers });

export const keysOf = ({ arrivals }: CountingServer): unknown[] =>
  arrivals.map(({ headers }) => headers["idempotency-key"]);
