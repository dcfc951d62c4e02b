/**
 * Answers a read from the effect log, or as its fault would have it.
 *
 * @module
 */

import { type Answer, answer, errorAnswer, faultAnswer } from "./answer.ts";
import { effectBody, type LoggedEffect } from "./logs.ts";
import type { ReadFault } from "./read-fault.ts";
import { RESET, type Reply, SILENCE, send } from "./reply.ts";
import type { Route } from "./route.ts";
import { effectsOf, recordOf, search, versionOf } from "./state.ts";

export type ReadRoute = Extract<Route, { tag: "list" | "record" }>;

export function fareRead(
  fault: ReadFault | undefined,
  read: (asOf?: number) => Answer,
  now: () => number,
): Reply {
  switch (fault?.tag) {
    case undefined:
      return send(read());
    case "status":
      return send(faultAnswer(fault));
    case "hang":
      return SILENCE;
    case "lag":
      return send(read(now() - fault.ms));
    case "reset":
      return RESET;
  }
}

export function readState(
  route: ReadRoute,
  effects: readonly LoggedEffect[],
  asOf?: number,
): Answer {
  if (route.tag === "list") {
    const known = effectsOf(effects, route.class, asOf);
    const found = search(known, route.query).map(effectBody);
    return answer(200, found, { etag: versionOf(known) });
  }
  const { name } = route;
  const record = recordOf(effectsOf(effects, "conditional", asOf), name);
  if (record === undefined) return errorAnswer(404, "not_found");
  const { value, version: etag } = record;
  return answer(200, { name, value, etag }, { etag });
}
