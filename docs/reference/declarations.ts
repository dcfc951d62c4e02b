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
  /** Where it is declared. */
  readonly file: string;
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
  /^(?:export )?(?:declare )?(?:abstract )?(function|const|class|interface|type) ([\w$]+)/;
const IMPORTED = /^import (?:type )?\{([^}]*)\} from "(\.[^"]+)";$/;
const PASSED_ON = /^export (?:type )?\{([^}]*)\} from "(\.[^"]+)";$/;
const EMPTY = /^export \{\s*\};$/;
const KINDS: Readonly<Record<string, Declared["kind"]>> = {
  function: "function",
  const: "value",
  class: "class",
};

function declaredBy(
  text: string,
  comment: string,
  file: string,
  found: ReadonlyMap<string, Declared>,
): Declared {
  const [, word = "", name = ""] = DECLARATION.exec(text) ?? [];
  const earlier = found.get(name);
  return {
    name,
    kind: KINDS[word] ?? "type",
    comment: earlier?.comment || comment,
    declarations: [...(earlier?.declarations ?? []), text],
    file,
  };
}

const besides = (file: string, target: string): string =>
  join(dirname(file), target.replace(/\.ts$/, ".d.ts"));

const namesIn = (list: string): readonly string[] =>
  list
    .split(",")
    .map((one) => one.trim().replace(/^type /, ""))
    .filter((one) => one !== "");

/** Every name that the file exports, its own and those it passes on, as they are declared. */
export function exportsOf(file: string): readonly Declared[] {
  const found = new Map<string, Declared>();
  for (const { comment, text } of statementsOf(readFileSync(file, "utf8")).statements) {
    const [, names, target = ""] = PASSED_ON.exec(text) ?? [];
    if (text.startsWith("export ") && DECLARATION.test(text)) {
      const declared = declaredBy(text, comment, file, found);
      found.set(declared.name, declared);
    } else if (names !== undefined) {
      const there = exportsOf(besides(file, target));
      for (const wanted of namesIn(names)) {
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

/**
 * What the signatures of these names refer to, and what that refers to in turn. `isShown` says which
 * names have a section already: those are not followed.
 */
export function referredToBy(
  exported: readonly Declared[],
  isShown: (name: string) => boolean,
): readonly Declared[] {
  const found = new Map<string, Declared>();
  const queue = [...exported];
  for (let next = queue.shift(); next; next = queue.shift()) {
    const inScope = namesInScope(next.file);
    for (const name of identifiersIn(next.declarations.join("\n"))) {
      const declared = inScope.get(name);
      if (declared?.kind !== "type" || isShown(name) || found.has(name)) continue;
      found.set(name, declared);
      queue.push(declared);
    }
  }
  return [...found.values()];
}

/** The declarations that a name in this file can mean: its own, and those it imports. */
function namesInScope(file: string): ReadonlyMap<string, Declared> {
  const found = new Map<string, Declared>();
  for (const { comment, text } of statementsOf(readFileSync(file, "utf8")).statements) {
    const [, names, target = ""] = IMPORTED.exec(text) ?? [];
    if (DECLARATION.test(text)) {
      const declared = declaredBy(text, comment, file, found);
      found.set(declared.name, declared);
    } else if (names !== undefined) {
      const there = exportsOf(besides(file, target));
      for (const wanted of namesIn(names)) {
        const [name = "", alias = name] = wanted.split(" as ");
        const imported = there.find((one) => one.name === name);
        if (imported) found.set(alias, imported);
      }
    }
  }
  return found;
}

const identifiersIn = (text: string): readonly string[] =>
  text
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/"[^"]*"|'[^']*'/g, "")
    .match(/[A-Z][\w$]*/g) ?? [];
