/** The times of the simulated world, in milliseconds, and its classes of tools. */

export const TIMES = {
  attempt: 1_500,
  read: 500,
  /** Shorter than an attempt. */
  lease: 1_200,
  commitsWithin: 4_000,
  keyMemory: 120_000,
  store: 1_000,
  cooldown: 5_000,
  deadline: 12_000,
  drain: 2_000,
} as const;

export interface Traits {
  /** The tool says that the service honours keys. */
  readonly keyed?: boolean;
  /** It does, and remembers them for `TIMES.keyMemory`. */
  readonly honours?: boolean;
  readonly conditional?: boolean;
  readonly readable?: boolean;
  /** The tool declares `commitsWithinMs`. */
  readonly bounded?: boolean;
  /** The reader never finds anything. */
  readonly blind?: boolean;
  /** The service may say yes and do nothing; the tool has `verify`. */
  readonly lies?: boolean;
  readonly attempts?: number;
  /** Calls other tools, and nothing else. */
  readonly composite?: boolean;
  /** The wire token sees its requests: it sends by the attempt's own `fetch` and says so, or by another client. */
  readonly wire?: "own" | "ambient";
}

export type ToolClass =
  | "K"
  | "KB"
  | "R"
  | "RU"
  | "KR"
  | "C"
  | "CR"
  | "N"
  | "L"
  | "KU"
  | "RB"
  | "X"
  | Wired;

type Wired = "HN" | "HK" | "HR" | "AN" | "AK" | "AR";

export const TOOLS: Readonly<Record<ToolClass, Traits>> = {
  /** Honours keys. */
  K: { keyed: true, honours: true },
  /** The same, with so many attempts that the retry budget runs out. */
  KB: { keyed: true, honours: true, attempts: 30 },
  /** Can be read. */
  R: { readable: true, bounded: true },
  /** Can be read, but nobody says when an absence is proof. */
  RU: { readable: true },
  KR: { keyed: true, honours: true, readable: true, bounded: true },
  /** Compares a version. */
  C: { conditional: true },
  CR: { conditional: true, readable: true, bounded: true },
  /** Neither: an e-mail. */
  N: {},
  /** Says yes and does nothing, sometimes. */
  L: { readable: true, bounded: true, lies: true },
  /** Declares a key and never sends it. */
  KU: { keyed: true },
  /** Has a reader that finds nothing. */
  RB: { readable: true, blind: true },
  /** Its requests are operations of their own. */
  X: { composite: true },
  /** By the attempt's own `fetch`, and by nothing else. */
  HN: { wire: "own" },
  HK: { wire: "own", keyed: true, honours: true },
  HR: { wire: "own", readable: true, bounded: true },
  /** By a client of its own. */
  AN: { wire: "ambient" },
  AK: { wire: "ambient", keyed: true, honours: true },
  AR: { wire: "ambient", readable: true, bounded: true },
};

export const traitsOf = (tool: ToolClass): Traits => TOOLS[tool];

export const TOOL_CLASSES = Object.keys(TOOLS) as ToolClass[];
