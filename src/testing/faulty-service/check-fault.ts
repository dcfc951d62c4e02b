/**
 * Refuses a fault that could not be played, when it is planned: a server that fails to send its
 * own fault would look like the fault asked for.
 *
 * @module
 */

import { validateHeaderName, validateHeaderValue } from "node:http";
import { InvalidInputError } from "../../errors.ts";
import type { Fault } from "./fault.ts";
import type { ReadFault } from "./read-fault.ts";

export function checkFault(fault: Fault): void {
  switch (fault.tag) {
    case "commit_then_reset":
    case "reset_before":
    case "duplicate_delivery":
    case "hang_up":
    case "black_hole":
    case "truncated_body":
      break;
    case "slow":
      checkMs("fault.ms", fault.ms);
      break;
    case "late_commit":
      checkMs("fault.afterMs", fault.afterMs);
      break;
    case "trickle":
      checkMs("fault.everyMs", fault.everyMs);
      break;
    case "stored_failure":
      checkStatus(fault.status);
      break;
    case "redirect":
      checkHeader("location", fault.to);
      checkStatus(fault.status);
      break;
    case "status":
      checkAnswer(fault);
      break;
    default:
      throw new InvalidInputError("fault", "must be one that `faults` makes");
  }
}

export function checkReadFault(fault: ReadFault): void {
  switch (fault.tag) {
    case "hang":
    case "reset":
      break;
    case "lag":
      checkMs("fault.ms", fault.ms);
      break;
    case "status":
      checkAnswer(fault);
      break;
    default:
      throw new InvalidInputError("fault", "must be one that `readFaults` makes");
  }
}

function checkAnswer({ status, headers = {}, body }: Extract<ReadFault, { tag: "status" }>): void {
  checkStatus(status);
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value);
  try {
    JSON.stringify(body);
  } catch {
    throw new InvalidInputError("fault.body", "must be a string or JSON");
  }
}

function checkStatus(status: number): void {
  if (Number.isInteger(status) && status >= 200 && status <= 599) return;
  throw new InvalidInputError("fault.status", "must be a whole number from 200 to 599");
}

function checkMs(path: string, ms: number): void {
  if (!(ms >= 0)) throw new InvalidInputError(path, "must be milliseconds, not negative");
}

function checkHeader(name: string, value: string | readonly string[]): void {
  try {
    validateHeaderName(name);
    for (const one of [value].flat()) validateHeaderValue(name, one);
  } catch {
    throw new InvalidInputError(`fault.headers.${name}`, "must be a header that HTTP can carry");
  }
}
