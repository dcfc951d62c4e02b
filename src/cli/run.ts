/**
 * One call of the command line, from what was typed to the exit code. Read this file first.
 *
 *   argv → command → arguments → run → exit code
 *
 * @module
 */

import { isHoldfireError } from "../errors.ts";
import { VERSION } from "../version.ts";
import { type Command, EXIT, FailedError, UnreachableError, UsageError } from "./command.ts";
import { helpOf, printHelp, printHelpOf } from "./help.ts";
import { nearest, parseFor } from "./parse.ts";
import { jsonText, onStderr, paint, type Terminal, visible } from "./terminal.ts";

export async function runCommandLine(
  argv: readonly string[],
  commands: readonly Command[],
  terminal: Terminal,
): Promise<number> {
  const json = argv.slice(0, boundOf(argv)).includes("--json");
  try {
    return await dispatch(argv, commands, json, terminal);
  } catch (error) {
    return report(error, json, terminal);
  }
}

const boundOf = (argv: readonly string[]): number =>
  argv.includes("--") ? argv.indexOf("--") : argv.length;

async function dispatch(
  argv: readonly string[],
  commands: readonly Command[],
  json: boolean,
  terminal: Terminal,
): Promise<number> {
  const [first, second] = argv.filter((word) => word !== "--json");
  if (first === "--version" || first === "-v") {
    terminal.out(json ? jsonText({ version: VERSION }) : VERSION);
    return EXIT.ok;
  }
  const wantsHelp = first === "help" || first === "--help" || first === "-h";
  if (first === undefined || (wantsHelp && second === undefined)) {
    if (json) terminal.out(jsonText({ version: VERSION, commands: commands.map(helpOf) }));
    else printHelp(commands, terminal);
    return first === undefined ? EXIT.usage : EXIT.ok;
  }
  const command = commandFor(wantsHelp && second !== undefined ? second : first, commands);
  const args = wantsHelp ? undefined : parseFor(command, argv.toSpliced(argv.indexOf(first), 1));
  if (!args || args.values.help) {
    if (json) terminal.out(jsonText(helpOf(command)));
    else printHelpOf(command, terminal);
    return EXIT.ok;
  }
  return command.run(args, terminal);
}

function commandFor(name: string, commands: readonly Command[]): Command {
  const command = commands.find((known) => known.name === name);
  if (command) return command;
  if (name.startsWith("-")) {
    throw new UsageError(`"${visible(name)}" is not a command.`, HELP);
  }
  const names = commands.map((known) => known.name);
  const meant = nearest(name, names);
  const hint = meant ? `Did you mean "${meant}"?` : HELP;
  throw new UsageError(`There is no command "${visible(name)}".`, hint);
}

const HELP = "holdfire --help lists the commands; options come after the command.";

/** Prints what went wrong to stderr, and returns the exit code. */
function report(error: unknown, json: boolean, terminal: Terminal): number {
  const exitCode = exitCodeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  const isOurs = error instanceof UsageError || error instanceof FailedError;
  const hint = isOurs ? error.hint : undefined;
  const candidates = error instanceof FailedError ? error.candidates : undefined;
  if (json) terminal.err(jsonText({ error: message, hint, candidates, exitCode }, 0));
  else {
    terminal.err(`${paint(onStderr(terminal), "red", "holdfire:")} ${visible(message, 2_000)}`);
    if (hint) terminal.err(visible(hint, 2_000));
  }
  return exitCode;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof UnreachableError) return EXIT.unreachable;
  if (!isHoldfireError(error)) return EXIT.found;
  if (error.code === "ERR_HOLDFIRE_STORE_UNAVAILABLE") return EXIT.unreachable;
  return error.code === "ERR_HOLDFIRE_INVALID_INPUT" ? EXIT.usage : EXIT.found;
}
