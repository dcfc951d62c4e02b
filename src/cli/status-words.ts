/**
 * The status of an operation in a word, in the colour that says whether somebody has to look.
 *
 * @module
 */

import type { OperationView } from "../engine/admin/operations.ts";
import type { StateTag } from "../ledger/record.ts";
import { paint, type Style, type Terminal } from "./terminal.ts";

const STYLES: Readonly<Record<StateTag, Style>> = {
  held: "yellow",
  queued: "cyan",
  claimed: "cyan",
  unknown: "red",
  committed: "green",
  not_applied: "gray",
  denied: "gray",
};

export const paintStatus = (
  { status, reason }: Pick<OperationView, "status" | "reason">,
  terminal: Terminal,
): string => paint(terminal, STYLES[status], reason ? `${status} (${reason})` : status);
