/**
 * `holdfire init`: a config and a guarded example for the framework of this project.
 *
 * @module
 */

import { resolve } from "node:path";
import { type Command, defineCommand, EXIT } from "../command.ts";
import { jsonText, paint, type Terminal, visible } from "../terminal.ts";
import type { Start } from "./project.ts";
import type { Ignored, Written } from "./write.ts";

export const init: Command = defineCommand({
  name: "init",
  summary: "Writes a config and a guarded example for the framework of this project.",
  takes: ["[FOLDER]"],
  about: [
    "It finds the framework in package.json and writes holdfire.config.ts and holdfire.example.ts; their names end in .mts where package.json does not say type: module. In a git folder it adds .holdfire/ to .gitignore.",
    "It never overwrites. Ends with 1 if it left a file alone because it is there already.",
  ],
  options: {
    framework: {
      type: "string",
      value: "NAME",
      about: "In place of the one found: mastra, openai-agents, langchain, ai, anthropic, …",
    },
    "dry-run": { type: "boolean", about: "Writes nothing, and prints what it would write." },
  },
  async run({ values, positionals }, terminal) {
    const [{ TEMPLATES }, { startIn }, { writeTemplate }, { ignoreLedger }] = await Promise.all([
      import("./templates.ts"),
      import("./project.ts"),
      import("./write.ts"),
      import("./write.ts"),
    ]);
    const folder = resolve(terminal.cwd, positionals[0] ?? "");
    const dryRun = values["dry-run"];
    const start = startIn(folder, TEMPLATES, values.framework);
    const files = writeTemplate(folder, start, dryRun);
    const gitignore = ignoreLedger(folder, dryRun);
    const report: Report = { folder, dryRun, start, files, gitignore };
    if (values.json) terminal.out(jsonText(jsonOf(report)));
    else print(report, terminal);
    return files.leftAlone.length > 0 ? EXIT.found : EXIT.ok;
  },
});

interface Report {
  readonly folder: string;
  readonly dryRun: boolean;
  readonly start: Start;
  readonly files: Written;
  readonly gitignore: Ignored;
}

const jsonOf = (report: Report) => ({
  folder: report.folder,
  dryRun: report.dryRun,
  framework: report.start.template.name,
  because: report.start.because,
  written: report.dryRun
    ? report.files.written
    : report.files.written.map(({ name }) => ({ name })),
  leftAlone: report.files.leftAlone,
  gitignore: report.gitignore,
  notes: notesOf(report),
  next: nextOf(report),
});

function print(report: Report, terminal: Terminal): void {
  const { dryRun, start, files, gitignore } = report;
  const { template, because } = start;
  const why = because === undefined ? "" : ` (package.json asks for ${because})`;
  terminal.out(`Framework: ${template.name}${why}`);
  for (const { name, text } of files.written) {
    terminal.out(`${paint(terminal, "green", dryRun ? "would write" : "wrote")} ${name}`);
    if (dryRun) terminal.out(text.replaceAll(/^(?=.)/gm, "    "));
  }
  for (const name of files.leftAlone) {
    terminal.out(
      `${paint(terminal, "yellow", "left alone")} ${visible(name)}: it is there already`,
    );
  }
  if (gitignore === "added") {
    terminal.out(`${dryRun ? "would add" : "added"} .holdfire/ to .gitignore`);
  }
  for (const note of notesOf(report)) terminal.out(note);
  terminal.out("");
  terminal.out("Next:");
  for (const command of nextOf(report)) terminal.out(`  ${command}`);
}

function notesOf({ start, files }: Report): readonly string[] {
  const keptConfig = files.leftAlone.find((name) => name.startsWith("holdfire.config."));
  const usesIt = files.written.some(({ name }) => name.startsWith("holdfire.example."));
  return [
    ...(keptConfig !== undefined && usesIt
      ? [
          `The example imports hf from ./holdfire.config.${start.ending}: see that it is exported there.`,
        ]
      : []),
    ...(start.needsTsExtensions
      ? ['TypeScript wants "allowImportingTsExtensions": true in tsconfig.json for these imports.']
      : []),
  ];
}

function nextOf({ start }: Report): readonly string[] {
  const { template, ending, missing, add } = start;
  const env = template.env === undefined ? "" : `${template.env}=... `;
  return [
    ...(missing.length > 0 ? [`${add} ${missing.join(" ")}`] : []),
    `${env}node holdfire.example.${ending}`,
    "npx holdfire ls",
  ];
}
