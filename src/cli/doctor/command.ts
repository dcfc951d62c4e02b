/**
 * `holdfire doctor`: what retries in this project, besides holdfire.
 *
 * @module
 */

import { resolve } from "node:path";
import { KNOWN_CLIENTS } from "../../integrations/shared/retries/retry-catalogue.ts";
import { type Args, CONFIG, type Command, defineCommand, EXIT, UsageError } from "../command.ts";
import { jsonText, type Terminal } from "../terminal.ts";

export const doctor: Command = defineCommand({
  name: "doctor",
  summary: "Lists which dependencies retry by themselves, and what that multiplies to.",
  takes: ["[FOLDER]"],
  rest: "PROGRAM ARGS...",
  about: [
    "It reads package.json, node_modules and the lockfile of a project, and checks whether the source names an ownRetries for what it finds. It runs nothing and sends nothing.",
    "With --config it also checks what you declare: a program without an app, writes that are neither keyed nor readable, and arguments that look like deltas.",
    "With --live it runs your program with the wire counter on and prints the requests that were really made, to stderr; its exit code is your program's. No bodies, headers or queries are recorded.",
  ],
  options: {
    strict: { type: "boolean", about: "Ends with 1 if something that retries is not covered." },
    live: { type: "boolean", about: "Runs a program and counts: --live -- node agent.js" },
    ...CONFIG,
  },
  async run(args, terminal) {
    const { live, config } = args.values;
    if (!live && args.rest.length > 0) {
      throw new UsageError("A program after -- is run only with --live.");
    }
    if (!live) return examine(args, terminal);
    if (args.rest.length === 0) {
      throw new UsageError(
        "--live needs a program.",
        "npx holdfire doctor --live -- node agent.js",
      );
    }
    if (config !== undefined) throw new UsageError("--live cannot be combined with --config.");
    const { runLive } = await import("./live/run-live.ts");
    return runLive(
      args.rest,
      args.values,
      resolve(terminal.cwd, args.positionals[0] ?? ""),
      terminal,
    );
  },
});

type Given = Pick<Args, "positionals"> & {
  readonly values: {
    readonly json: boolean;
    readonly strict: boolean;
    readonly config: string | undefined;
  };
};

async function examine({ values, positionals }: Given, terminal: Terminal): Promise<number> {
  const [
    { readProject },
    { findImports },
    { findingsOf, matches, printReport, uncovered, worstCaseOf },
  ] = await Promise.all([import("./project.ts"), import("./imports.ts"), import("./findings.ts")]);
  const folder = resolve(terminal.cwd, positionals[0] ?? "");
  const patterns = KNOWN_CLIENTS.flatMap(({ packages }) => packages);
  const isWanted = (name: string) => patterns.some((pattern) => matches(pattern, name));
  const project = readProject(folder, isWanted);
  const subpaths = KNOWN_CLIENTS.flatMap(({ subpath }) => (subpath ? [subpath] : []));
  const imports = findImports(folder, subpaths);
  const findings = findingsOf(KNOWN_CLIENTS, project.dependencies, imports.seen);
  const open = uncovered(findings);
  const report = {
    folder,
    findings,
    worstCase: worstCaseOf(findings),
    files: imports.files,
    cut: imports.cut,
    ...(values.config === undefined ? {} : await checkConfig(values.config, terminal)),
  };
  if (values.json) {
    const names = open.map(({ client }) => client.name);
    terminal.out(jsonText({ ...report, uncovered: names }));
  } else {
    printReport(report, terminal);
  }
  if (project.cut) terminal.err("node_modules is very large; not all of it was read.");
  return values.strict && open.length > 0 ? EXIT.found : EXIT.ok;
}

async function checkConfig(path: string, terminal: Terminal) {
  const { loadConfig } = await import("../load-config.ts");
  const { configFindings } = await import("./tools.ts");
  const config = await loadConfig(path, terminal);
  try {
    return configFindings(config);
  } finally {
    await config.hf.close();
  }
}
