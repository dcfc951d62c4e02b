/**
 * A fetch in which a doomed operation stops: with half of its request out, without a reply, with half
 * of one, or with all of it.
 *
 * @module
 */

import { request } from "node:http";
import { type Stage, standStill } from "./stage.ts";
import type { Doom } from "./staged-store.ts";

export interface StagedFetch {
  readonly fetch: typeof fetch;
  /** Resolves once all the requests that are to fail have failed. */
  readonly failed: Promise<void>;
}

/** So many first requests fail: `failures`. No second one goes before, or it would take a fault of theirs. */
export function stagedFetch(
  dooms: ReadonlyMap<string, Doom>,
  stage: Stage,
  failures: number,
): StagedFetch {
  const sent = new Map<string, number>();
  let allFailed = () => {};
  const failed = new Promise<void>((resolve) => {
    allFailed = resolve;
  });
  let left = failures;
  const heard = () => {
    if (left <= 0) allFailed();
  };
  heard();

  const send = async (url: string, init: RequestInit): Promise<Response> => {
    const name = itemIn(init);
    const attempt = (sent.get(name) ?? 0) + 1;
    sent.set(name, attempt);
    const doom = dooms.get(name);
    if (attempt > 1) await failed;
    if (doom?.attempt !== attempt) {
      try {
        return await fetch(url, init);
      } catch (error) {
        left -= 1;
        heard();
        throw error;
      }
    }
    switch (doom.spot) {
      case "sending":
        await sendHalf(url, init);
        stage.reached(name);
        return standStill();
      case "sent":
        await fetch(url, init).catch(() => {});
        return standStill();
      case "mid-reply": {
        const response = await fetch(url, init);
        stage.reached(name);
        return response;
      }
      case "replied": {
        const response = await fetch(url, init);
        await response.arrayBuffer();
        stage.reached(name);
        return standStill();
      }
      default:
        return fetch(url, init);
    }
  };

  return {
    fetch: (input, init = {}) => send(String(input), init),
    failed,
  };
}

function itemIn({ body }: RequestInit): string {
  return (JSON.parse(String(body)) as { readonly item: string }).item;
}

/** The head and the first half of the body, on a connection that stays open. */
function sendHalf(url: string, { method = "POST", headers, body }: RequestInit): Promise<void> {
  const bytes = Buffer.from(String(body));
  const length = { "content-length": String(bytes.length) };
  const given = { ...(headers as Record<string, string>), ...length };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: given }, () => {});
    sent.on("error", reject);
    sent.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => resolve());
  });
}
