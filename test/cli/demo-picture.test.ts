/** The picture in the README is what the demo prints. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { drawTerminal } from "../../docs/images/demo.ts";

/** The text of a picture, line by line, as a reader sees it. */
const textOf = (picture: string): readonly string[] =>
  [...picture.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, line = ""]) =>
    line
      .replaceAll(/<[^>]*>/g, "")
      .replaceAll("&lt;", "<")
      .replaceAll("&gt;", ">")
      .replaceAll("&amp;", "&"),
  );

test("the picture of the README shows what the demo prints; npm run picture draws it again", () => {
  const { FORCE_COLOR: _, ...env } = process.env;
  const printed = execFileSync(process.execPath, ["src/cli/main.ts", "demo"], {
    encoding: "utf8",
    env,
  });
  const [command, ...drawn] = textOf(readFileSync("docs/images/demo.svg", "utf8"));
  expect(command).toBe("$ npx holdfire demo");
  expect(drawn.join("\n")).toBe(printed.trimEnd());
});

test("colours are kept, and what would be markup is text", () => {
  const picture = drawTerminal(["a \u001b[31m<b> & c\u001b[39m d"], "a & b");
  expect(picture).toContain('a <tspan class="red">&lt;b&gt; &amp; c</tspan> d</text>');
  expect(picture).toContain("<title>a &amp; b</title>");
  expect(textOf(picture)).toEqual(["a <b> & c d"]);
});
