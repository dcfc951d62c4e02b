/**
 * What a template is: the two files that `holdfire init` writes for one framework.
 *
 * @module
 */

export interface Template {
  /** The framework, as `--framework` names it. */
  readonly name: string;
  /** It is meant for projects that ask for one of these packages; the first one wins. */
  readonly packages: readonly string[];
  /** What the example imports beside holdfire. */
  readonly needs: readonly string[];
  /** What the example wants from the environment, e.g. `OPENAI_API_KEY`. */
  readonly env?: string | undefined;
  /** What the config exports, if it is not the one that most have. */
  readonly config?: ((ending: Ending) => string) | undefined;
  readonly example: (ending: Ending) => string;
}

/** `mts` where the project's package.json does not say that its files are ES modules. */
export type Ending = "ts" | "mts";

/** Source code in a template literal: without the margin, and with one new line at the end. */
export function code(parts: TemplateStringsArray, ...values: readonly string[]): string {
  const text = String.raw({ raw: parts.raw }, ...values);
  const lines = text.replace(/^\n/, "").trimEnd().split("\n");
  const margin = /^ */.exec(lines[0] ?? "")?.[0] ?? "";
  const cut = lines.map((line) => (line.startsWith(margin) ? line.slice(margin.length) : line));
  return `${cut.join("\n")}\n`;
}
