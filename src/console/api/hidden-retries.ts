/**
 * Hidden retries by the client's origin, as this process hears of them: the ledger keeps only how many requests an
 * attempt sent.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { visible } from "../../key/escape-hidden.ts";
import type { Health } from "../model.ts";

export type HiddenByClient = () => Health["hiddenRetries"]["byClient"];

const MOST_ORIGINS = 50;

export function hiddenByClient(hf: Holdfire): HiddenByClient {
  const counts = new Map<string, number>();
  hf.on("warning", (warning) => {
    if (warning.code !== "hidden_retry") return;
    const { origin, count, refused = 0 } = warning;
    const isKept = counts.has(origin) || counts.size < MOST_ORIGINS;
    const name = isKept ? origin : "others";
    counts.set(name, (counts.get(name) ?? 0) + Math.max(0, count - 1) + refused);
  });
  return () =>
    [...counts]
      .map(([origin, requests]) => ({ origin: visible(origin, 200), requests }))
      .sort((one, other) => other.requests - one.requests);
}
