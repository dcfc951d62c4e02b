/** One thing has one name: a value that is data is written in one way everywhere, and errors are sentences. */
import { globSync, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { errorTexts, textsIn } from "./error-texts.ts";
import { PAGES, REFERENCE, textOf } from "./pages.ts";

/** The same word, however it is cased: `not_applied`, `not-applied`, `notApplied`, `not applied`. */
const bare = (value: string): string => value.toLowerCase().replaceAll(/[-_ ]/g, "");

/** Each group of spellings of one word that has more than one. */
function secondSpellings(values: Iterable<string>): string[][] {
  const groups = new Map<string, string[]>();
  for (const value of new Set(values)) {
    // Flags of a program are no data of ours.
    if (!value.startsWith("-"))
      groups.set(bare(value), [...(groups.get(bare(value)) ?? []), value]);
  }
  return [...groups.values()].filter((spellings) => spellings.length > 1).map((one) => one.sort());
}

const withoutComments = (code: string): string =>
  code.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(?<=^|\s)\/\/.*$/gm, "");

const literalsIn = (code: string): string[] =>
  [...withoutComments(code).matchAll(/(["'])((?:(?!\1)[^\\\n])*)\1/g)].map(
    ([, , text = ""]) => text,
  );

/** The signatures of the reference, without its examples. Each page is kept up to date by its own test. */
const signatures = REFERENCE.flatMap((page) =>
  [...textOf(page).matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code),
).filter((code) => /^(?:abstract class|class|const|function|interface|type) /.test(code));

/** The names of events are the members of one interface. */
const events = [
  ...(signatures.find((code) => code.startsWith("interface HoldfireEvents ")) ?? "").matchAll(
    /^ {2}(\w+):/gm,
  ),
].map(([, name = ""]) => name);

const codesOf = (type: string, tag: string): string[] =>
  [
    ...(signatures.find((code) => code.startsWith(`type ${type} =`)) ?? "").matchAll(
      new RegExp(`readonly ${tag}: "(\\w+)"`, "g"),
    ),
  ].map(([, code = ""]) => code);
const warnings = codesOf("Warning", "code");

/** Every text in what an entry exports: lists, tables, constants. */
function textsOf(value: unknown, depth = 4): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || depth === 0) return [];
  return Object.values(value).flatMap((one) => textsOf(one, depth - 1));
}

async function exportedTexts(): Promise<string[]> {
  const texts: string[] = [];
  for (const entry of Object.values(manifest.exports)) {
    if (typeof entry === "string") continue;
    const source = entry.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
    texts.push(...textsOf({ ...(await import(/* @vite-ignore */ pathToFileURL(source).href)) }));
  }
  return texts;
}

const exported = await exportedTexts();
const typed = signatures.flatMap(literalsIn);
const data = [...events, ...typed, ...exported];
/** Public values of several words. Those of one word have only one spelling. */
const words = new Set(data.filter((value) => /^[a-z0-9]+(?:_[a-z0-9]+)+$/.test(value)));

describe("values that are data", () => {
  test("are found: events, warnings, statuses, reasons, verdicts, licences, readings, error codes", () => {
    const known = [
      ...["operation", "outcome", "warning", "hidden_retry", "reader_blind"],
      ...["not_applied", "in_progress", "lost_reply", "not_sent", "rejected", "keyed", "person"],
      ...["cannot_tell", "duplicated", "unrecorded", "host_loss", "not_checked"],
      ...["ERR_HOLDFIRE_OUTCOME_UNKNOWN", "keyed_readable"],
    ];
    expect(known.filter((value) => !data.includes(value))).toEqual([]);
    expect(events.length).toBe(18);
    expect(words.size).toBeGreaterThan(50);
  });

  test("a second spelling is found, whichever it is", () => {
    for (const other of ["not-applied", "notApplied", "not applied", "NOT_APPLIED"]) {
      expect(secondSpellings([...data, other])).toEqual([["not_applied", other].sort()]);
    }
  });

  test("have one spelling in types, events and exported values", () => {
    expect(secondSpellings(data)).toEqual([]);
  });

  test("have no hyphens and no spaces in the sources", () => {
    // Flags of the command line and anchors of docs/errors.md are spelled as such things are.
    const wrong = globSync("src/**/*.ts")
      .filter((path) => !path.startsWith("src/cli/") && path !== "src/errors.ts")
      .flatMap((path) =>
        literalsIn(readFileSync(path, "utf8"))
          .filter((text) => /[- ]/.test(text) && words.has(text.replaceAll(/[- ]/g, "_")))
          .map((text) => `${path}: "${text}"`),
      );
    expect(wrong).toEqual([]);
  });

  test.each(PAGES.filter((page) => page !== "CHANGELOG.md"))("are so in %s, too", (page) => {
    const code = [...textOf(page).matchAll(/^```\w*\n([\s\S]*?)^```$|`([^`\n]+)`/gm)];
    const wrong = code.flatMap(([, block, inline]) =>
      [...(block ?? inline ?? "").matchAll(/(?<![-#/\w])[a-z]+(?:-[a-z]+)+(?![-/\w])/g)]
        .map(([text]) => text)
        .filter((text) => words.has(text.replaceAll("-", "_"))),
    );
    expect(wrong).toEqual([]);
  });
});

describe("docs/events.md", () => {
  const page = textOf("docs/events.md");
  /** The names in the first cells of the table below a heading. */
  const rowsOf = (heading: string): string[] => {
    const part = page.split(`\n## ${heading}\n`)[1]?.split(/\n##/)[0] ?? "";
    return [...part.matchAll(/^\| ([^|]+)\|/gm)].flatMap(([, cell = ""]) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
    );
  };

  test("explains every event, and no other", () => {
    expect(rowsOf("All events").sort()).toEqual([...events].sort());
  });

  test("explains every code of a warning, and no other", () => {
    expect(warnings.length).toBeGreaterThan(7);
    expect(rowsOf("Warnings").slice(1).sort()).toEqual([...warnings].sort());
  });
});

describe("docs/observability.md", () => {
  test("names every metric, and no other", () => {
    const source = textOf("src/observe/otel/metrics.ts");
    const named = [
      ...source.matchAll(/(?:\bcounter\(|\bseconds\(|count\(\s*"\w+",\s*\[)"([\w.]+)"/g),
    ].map(([, name = ""]) => `holdfire.${name}`);
    const page = textOf("docs/observability.md");
    const listed = [...page.matchAll(/^\| `(holdfire\.[\w.]+)` +\| (?:counter|histogram)/gm)];
    expect(named.length).toBeGreaterThan(15);
    expect(listed.map(([, name]) => name).sort()).toEqual([...new Set(named)].sort());
  });
});

describe("the texts of errors", () => {
  /** `HoldfireError` itself ends them; what others wrote ends as they wish. */
  const ENDS = /[.?!…]$|\$\{(?:anchor|because|hint|rule)\}$|\$\{[^{}]*\b(?:message|why)\b[^{}]*\}$/;

  /** Texts that are still to be rewritten. To be removed with the last of them. */
  test("are found, whatever makes them", () => {
    const source = `
      const WHY = { a: "one.", b: "two" };
      function refuse(rule: string): never { throw new InvalidInputError("path", rule); }
      const rule = given ? \`three \${given}\` : "four.";
      if (a) throw new InvalidInputError("path", rule);
      if (b) refuse("five, at (some) place");
      if (c) throw new InvalidInputError(\`a.\${b(c, "d")}\`, WHY[why] ?? "six" + "seven");
      if (d) throw new Error("eight");
      throw new ClosedError();
    `;
    const found = textsIn("a.ts", source).map(({ text }) => text);
    expect(found.sort()).toEqual(
      [
        "one.",
        "two",
        "three $" + "{given}",
        "four.",
        "five, at (some) place",
        "seven",
        "eight",
      ].sort(),
    );
  });

  test("end with a full stop", () => {
    const texts = errorTexts();
    expect(texts.length).toBeGreaterThan(200);
    const open = texts
      .filter(({ text }) => text !== undefined && !ENDS.test(text))
      .map(({ at, error, text }) => `${at}: ${error} ${JSON.stringify(text)}`);
    expect(open).toEqual([]);
  });
});

/** Read in the first hour, and not understood. */
test.each([
  "Each has the other.",
  "two owners of a key are none",
  "A look that brings no news leaves the record as it was.",
  "the same tool call was made again from around",
])("nobody has to read: %s", (sentence) => {
  const folded = (text: string) => text.replaceAll(/[\s*/]+/g, " ").toLowerCase();
  const files = [...globSync("src/**/*.ts"), ...globSync("examples/**/*.ts"), ...PAGES];
  const found = files.filter((path) => folded(textOf(path)).includes(folded(sentence)));
  expect(found).toEqual([]);
});
