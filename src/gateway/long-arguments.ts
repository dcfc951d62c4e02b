/**
 * Arguments as the ledger and a person see them. The content of a file may be as long as a message; what tells one call
 * from another is then its digest.
 *
 * @module
 */

import { canonicalize, DEFAULT_LIMITS } from "../key/canonical.ts";
import { digestText } from "../key/digest.ts";
import { fieldsOf } from "./pipe/message.ts";

/** As long as a message may be, and deeper than JSON is read. */
const ANY = { depth: 10_000, nodes: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };
/** Half of what the ledger takes: the rest is for names, and for the other arguments. */
const MOST_CHARACTERS = DEFAULT_LIMITS.bytes / 2 / 3;
/** As long as a digest. */
const SHORT = 64;
const MOST_NODES = DEFAULT_LIMITS.nodes / 2;
const MOST_DEPTH = DEFAULT_LIMITS.depth / 2;

/** The same, but that each argument that is too long for the ledger is its digest. */
export function shortened(args: unknown): unknown {
  if (fits(args, MOST_CHARACTERS)) return args;
  // Where many are long together, all but the shortest: a rule still finds each under its name.
  for (const most of [MOST_CHARACTERS / 8, SHORT]) {
    const short = Object.fromEntries(
      Object.entries(fieldsOf(args)).map(([name, value]) => [
        name,
        fits(value, most) ? value : digestOf(value),
      ]),
    );
    if (fits(short, MOST_CHARACTERS)) return short;
  }
  return digestOf(args);
}

interface Digest {
  readonly sha256: string;
  readonly characters: number;
}

function digestOf(value: unknown): Digest {
  const { text } = canonicalize(value, "arguments", ANY);
  return { sha256: digestText("gateway-argument", text), characters: text.length };
}

/** Whether it stands for a value that was too long, and so cannot be compared with one. */
export function isDigest(value: unknown): boolean {
  const { sha256, characters, ...rest } = fieldsOf(value);
  const isOne = typeof sha256 === "string" && typeof characters === "number";
  return isOne && Object.keys(rest).length === 0;
}

/** Whether there is no more of it, counted no further than that. */
function fits(value: unknown, most: number): boolean {
  let characters = 0;
  let nodes = 0;
  const visit = (one: unknown, depth: number): boolean => {
    nodes += 1;
    if (typeof one === "string") characters += one.length;
    if (nodes > MOST_NODES || characters > most || depth > MOST_DEPTH) return false;
    if (typeof one !== "object" || one === null) return true;
    return Object.entries(one).every(([name, inner]) => {
      characters += name.length;
      return visit(inner, depth + 1);
    });
  };
  return visit(value, 0);
}
