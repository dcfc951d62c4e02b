/**
 * How a cell is shown: by colour and by symbol, so that it can be read in black and white.
 *
 * @module
 */

import type { ToolClass } from "../stack.ts";
import type { Cell } from "./matrix.ts";

export interface Look {
  readonly symbol: string;
  readonly says: string;
  /** On a terminal. */
  readonly style: "red" | "green" | "yellow" | "dim";
  /** In pictures: behind the symbol, and the symbol itself. */
  readonly fill: string;
  readonly ink: string;
}

const LIGHT = "#ffffff";
const DARK = "#1f2328";

export const SYMBOLS: Readonly<Record<Cell["verdict"], Look>> = {
  ok: { symbol: "✓", says: "done once, and told so", style: "green", fill: "#b7e4c0", ink: DARK },
  left_unknown: {
    symbol: "?",
    says: "left open, and told so",
    style: "yellow",
    fill: "#fbe8a6",
    ink: DARK,
  },
  not_done: {
    symbol: "0",
    says: "not done, and told so",
    style: "yellow",
    fill: "#f2c14e",
    ink: DARK,
  },
  false_dedupe: {
    symbol: "=",
    says: "a wanted one suppressed",
    style: "red",
    fill: "#e8833a",
    ink: DARK,
  },
  untrue: { symbol: "!", says: "told an untruth", style: "red", fill: "#e8833a", ink: DARK },
  lost: { symbol: "✗", says: "lost, and not told", style: "red", fill: "#8e3b8a", ink: LIGHT },
  duplicate: { symbol: "2", says: "done twice or more", style: "red", fill: "#b3261e", ink: LIGHT },
  void: {
    symbol: "v",
    says: "void: proves nothing",
    style: "dim",
    fill: "#ffffff",
    ink: "#6e7781",
  },
  not_applicable: {
    symbol: "·",
    says: "nothing to ask",
    style: "dim",
    fill: "#f6f8fa",
    ink: "#8c959f",
  },
};

export const LETTERS: Readonly<Record<ToolClass, string>> = {
  keyed: "K",
  readable: "R",
  conditional: "C",
  neither: "N",
  liar: "L",
};

export const CLASS_SAYS: Readonly<Record<ToolClass, string>> = {
  keyed: "recognises an idempotency key",
  readable: "can be asked what happened",
  conditional: "takes a name once",
  neither: "offers nothing, like e-mail",
  liar: "says yes and does nothing",
};
