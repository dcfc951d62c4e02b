/**
 * Reads a declaration file that the compiler wrote: its statements, each with the comment before it.
 *
 * No parser of TypeScript is needed for that. A declaration file has no bodies and no regular
 * expressions, and the compiler ends every statement with a semicolon or a closing brace.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** One exported name. An overloaded function has several declarations. */
export interface Declared {
  readonly name: string;
  readonly kind: "function" | "value" | "class" | "type";
  readonly comment: string;
  readonly declarations: readonly string[];
}

interface Statement {
  readonly comment: string;
  readonly text: string;
}

const OPENING = new Set(["(", "[", "{"]);
const CLOSING = new Set([")", "]", "}"]);
/** What ends with its brace; all else ends with a semicolon. */
const BRACED = /^(?:export )?(?:declare )?(?:abstract )?(?:interface|class) /;

/** The comment that says what the file is for, and its statements in order. */
export function statementsOf(text: string): { header: string; statements: readonly Statement[] } {
  const statements: Statement[] = [];
  let header = "";
  let comment = "";
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text.charAt(at))) {
      at += 1;
    } else if (text.startsWith("//", at)) {
      at = endOf(text, "\n", at);
    } else if (text.startsWith("/*", at)) {
      const end = endOf(text, "*/", at);
      const found = text.slice(at, end);
      if (found.includes("@module")) header = found;
      else comment = found.startsWith("/**") ? found : "";
      at = end;
    } else {
      const end = endOfStatement(text, at);
      statements.push({ comment, text: text.slice(at, end) });
      comment = "";
      at = end;
    }
  }
  return { header, statements };
}

/** Right behind the next `mark`. */
function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found + mark.length;
}

function endOfStatement(text: string, from: number): number {
  const endsWithBrace = BRACED.test(text.slice(from, from + 80));
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (text.startsWith("/*", at)) at = endOf(text, "*/", at) - 1;
    else if (text.startsWith("//", at)) at = endOf(text, "\n", at) - 1;
    else if (character === '"' || character === "'" || character === "`") at = endOfText(text, at);
    else if (OPENING.has(character)) depth += 1;
    else if (CLOSING.has(character)) {
      depth -= 1;
      if (depth === 0 && endsWithBrace && character === "}") return at + 1;
    } else if (character === ";" && depth === 0) return at + 1;
  }
  throw new Error(`A statement does not end: ${text.slice(from, from + 80)}`);
}

/** The closing quote. A type in a template (`${string}`) has no quotes of its own kind inside. */
function endOfText(text: string, from: number): number {
  const quote = text.charAt(from);
  let at = from + 1;
  while (at < text.length && text.charAt(at) !== quote) at += text.charAt(at) === "\\" ? 2 : 1;
  return at;
}

const DECLARATION =
  /^export (?:declare )?(?:abstract )?(function|const|class|interface|type) ([\w$]+)/;
const PASSED_ON = /^export (?:type )?\{([^}]*)\} from "(\.[^"]+)";$/;
const EMPTY = /^export \{\s*\};$/;
const KINDS: Readonly<Record<string, Declared["kind"]>> = {
  function: "function",
  const: "value",
  class: "class",
};

/** Every name that the file exports, its own and those it passes on, as they are declared. */
export function exportsOf(file: string): readonly Declared[] {
  const found = new Map<string, Declared>();
  for (const { comment, text } of statementsOf(readFileSync(file, "utf8")).statements) {
    const [, word = "", name = ""] = DECLARATION.exec(text) ?? [];
    const [, names, target = ""] = PASSED_ON.exec(text) ?? [];
    if (name) {
      const earlier = found.get(name);
      found.set(name, {
        name,
        kind: KINDS[word] ?? "type",
        comment: earlier?.comment || comment,
        declarations: [...(earlier?.declarations ?? []), text],
      });
    } else if (names !== undefined) {
      const there = exportsOf(join(dirname(file), target.replace(/\.ts$/, ".d.ts")));
      for (const wanted of names.split(",").map((one) => one.trim().replace(/^type /, ""))) {
        if (wanted === "") continue;
        const passed = there.find((one) => one.name === wanted);
        if (!passed) throw new Error(`${file}: ${wanted} is not found in ${target}`);
        found.set(wanted, passed);
      }
    } else if (text.startsWith("export ") && !EMPTY.test(text)) {
      throw new Error(`${file}: an export of a kind that is not expected: ${text.slice(0, 80)}`);
    }
  }
  return [...found.values()];
}
