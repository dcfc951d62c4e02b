/**
 * The words for what an attempt failed with. What others said, a service or an error, is quoted or named as theirs.
 *
 * @module
 */

import type { Failure } from "../../classify/failure.ts";
import type { AttemptNote } from "../../ledger/record.ts";

/** How an attempt in doubt ended. A reply is lost only where a request was seen to leave, or is known to have been sent. */
export function attemptWords(attempt: Partial<AttemptNote> | undefined, failure?: Failure): string {
  const { status, wireRequests, unvetoable } = attempt ?? {};
  if (failure?.byTool) return toolSaid(failure);
  const said = failure?.said ? ` ${serviceSaid(failure.said)}` : "";
  if (status !== undefined) {
    const threw = status < 400 || !failure?.said ? thrownWords(failure) : undefined;
    return `The service answered ${status}.${said}${threw ? ` The tool failed with ${threw}.` : ""}`;
  }
  if (failure?.answered) return `The service answered with an error.${said}`;
  const threw = thrownWords(failure);
  if (wireRequests || failure?.handed) {
    return threw && !failure?.broke ? `The reply was lost (${threw}).` : "The reply was lost.";
  }
  if (!threw) return "No answer was seen.";
  // A socket or a program may have sent what is not seen.
  return `The tool failed with ${threw}.${unvetoable ? "" : " No HTTP request was seen to leave."}`;
}

/** `ReferenceError: amount is not defined`. */
export function thrownWords(failure: Failure | undefined): string | undefined {
  if (!failure?.type) return undefined;
  const { type, code, line } = failure;
  const text = line === undefined ? type : `${type}: ${withoutStop(line)}`;
  return code === undefined || text.includes(code) ? text : `${text}, code ${code}`;
}

const withoutStop = (line: string): string => (line.endsWith(".") ? line.slice(0, -1) : line);

/** Foreign words are quoted, and cannot end the quotation. */
export const serviceSaid = (said: string): string =>
  `It said: "${said.replaceAll('"', "'")}"${/[.!?…]$/.test(said) ? "" : "."}`;

export const toolSaid = ({ line }: Failure): string =>
  line === undefined
    ? "The tool says that it was not applied."
    : `The tool says that it was not applied: "${line.replaceAll('"', "'")}"`;
