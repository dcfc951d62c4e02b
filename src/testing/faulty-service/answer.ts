/**
 * What the service says, before any fault gets at it.
 *
 * @module
 */

import type { FaultHeaders } from "./fault.ts";

export interface Answer {
  readonly status: number;
  readonly headers: FaultHeaders;
  /** A string is sent as it is, anything else as JSON. */
  readonly body: unknown;
}

export function answer(status: number, body: unknown, headers: FaultHeaders = {}): Answer {
  return { status, body, headers };
}

/** A refusal or failure, in the shape Stripe gives it. */
export function errorAnswer(status: number, type: string, headers: FaultHeaders = {}): Answer {
  return answer(status, { error: { type } }, headers);
}

/** The answer a fault asks for. */
export function faultAnswer(fault: {
  readonly status: number;
  readonly headers?: FaultHeaders | undefined;
  readonly body?: unknown;
}): Answer {
  const { status, headers = {}, body } = fault;
  if (body !== undefined) return answer(status, body, headers);
  return status < 400 ? answer(status, {}, headers) : errorAnswer(status, "fault", headers);
}
