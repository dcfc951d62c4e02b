/**
 * One request, from its arrival to what becomes of it.
 *
 *   receive → route → read the intent → draw the fault → log the arrival → let it fare
 *
 * A request the service would refuse anyway uses up no fault.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import { type Answer, errorAnswer } from "./answer.ts";
import { begin } from "./execute.ts";
import type { Fault } from "./fault.ts";
import { readIntent } from "./intent.ts";
import type { KeyMemory } from "./key-memory.ts";
import type { Arrival, Logs } from "./logs.ts";
import type { Plan } from "./plan.ts";
import { fareRead, readState } from "./read.ts";
import type { ReadFault } from "./read-fault.ts";
import { receive } from "./receive.ts";
import { type Reply, send } from "./reply.ts";
import { type Route, route } from "./route.ts";
import type { Timers } from "./timers.ts";
import { fare } from "./write.ts";

export interface Inside {
  readonly now: () => number;
  readonly logs: Logs;
  readonly keys: KeyMemory;
  readonly timers: Timers;
  readonly writeFaults: Plan<Fault>;
  readonly readFaults: Plan<ReadFault>;
}

export async function handle(request: IncomingMessage, inside: Inside): Promise<Reply> {
  const body = await receive(request);
  const { method = "", url: path = "" } = request;
  const to = route(method, path);

  if (to.tag === "list" || to.tag === "record") {
    const { logs, now } = inside;
    const fault = inside.readFaults.next();
    logs.arriveRead({ method, path, fault });
    return fareRead(fault, (asOf) => readState(to, logs.effects, asOf), now);
  }
  if (method === "GET" || method === "HEAD") {
    inside.logs.arriveRead({ method, path, fault: undefined });
    return send(refusal(to));
  }
  return write(to, request, body, inside);
}

function write(
  to: Exclude<Route, { tag: "list" | "record" }>,
  request: IncomingMessage,
  body: string | undefined,
  { logs, keys, timers, writeFaults }: Inside,
): Reply {
  const { method = "", url: path = "" } = request;
  const key = header(request, "idempotency-key");
  const read = body === undefined ? undefined : readIntent(body);
  const facts: Omit<Arrival, "seq" | "at"> = {
    method,
    path,
    key,
    intent: read?.intent,
    identity: read?.identity,
    body: body ?? "",
    fault: undefined,
  };

  if (to.tag !== "write" || read === undefined) {
    logs.arrive(facts);
    if (to.tag !== "write") return send(refusal(to));
    return send(body === undefined ? errorAnswer(413, "too_large") : errorAnswer(400, "not_json"));
  }

  const fault = writeFaults.next();
  const arrive = () => logs.arrive({ ...facts, fault }).seq;
  const precondition = {
    ifMatch: header(request, "if-match"),
    ifNoneMatch: header(request, "if-none-match"),
  };
  const beginAs = (arrival: number) => {
    const { class: toolClass, record } = to;
    return begin({ class: toolClass, record, key, ...read, precondition, arrival }, logs, keys);
  };
  const first = arrive();
  const delivery = { begin: () => beginAs(first), beginAgain: () => beginAs(arrive()) };
  return fare(fault, delivery, timers);
}

function refusal(to: Route): Answer {
  if (to.tag === "garbage") return errorAnswer(400, "bad_target");
  if (to.tag === "not_allowed") return errorAnswer(405, "not_allowed", { allow: to.allow });
  return errorAnswer(404, "not_found");
}

/** An empty header says nothing. */
function header(request: IncomingMessage, name: string): string | undefined {
  const value = [request.headers[name]].flat().join(", ");
  return value === "" ? undefined : value;
}
