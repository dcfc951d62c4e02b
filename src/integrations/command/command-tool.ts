/**
 * A program as a tool.
 *
 * `commandTool` gives the part of a definition that a program can answer for: how it is run, what its end
 * proves, what it changed. Name, kind and intent stay with you.
 *
 * @module
 */

import { basename } from "node:path";
import { type ExitCodes, type ProgramEnd, verdictOfExit } from "../../classify/exit.ts";
import type { AttemptContext, Plan } from "../../engine/define/definition.ts";
import { type Input, type StandardSchema, withCheck } from "../../engine/define/schema.ts";
import { standsFor } from "../../engine/define/source.ts";
import { InvalidInputError } from "../../errors.ts";
import type { Effect, Verdict } from "../../reasons.ts";
import { argvOf, flagWith, type Pieces } from "./argv.ts";
import {
  asText,
  type CommandResult,
  effectOf,
  NOTHING_PRINTED,
  planOf,
  resultOf,
} from "./output.ts";
import { type ProgramResult, runProgram } from "./program.ts";

export interface CommandOptions<A> {
  /** The program: a path, or a name to be found on `PATH`. Never a model's text; no shell reads it. */
  readonly file: string;
  /**
   * Its words. A text is yours and goes out as it is; `{ from }` is a value of the arguments.
   *
   * @example
   * ```ts
   * args: ["refund", { flag: "--amount", from: "amount" }, { from: "paymentId" }]
   * ```
   */
  readonly args: Pieces<A> | ((args: A) => Pieces<A>);
  /** Checks the arguments: any Standard Schema, or `typed<Args>()`. */
  readonly input?: Input<A> | undefined;
  /** The flag that carries the key, e.g. `"--idempotency-key"`. Without it the program gets none. */
  readonly keyFlag?: string | undefined;
  /** The flag by which it only says what it would do, e.g. `"--dry-run"`. With it, the tool has a `plan`. */
  readonly dryRunFlag?: string | undefined;
  /** The names of the variables that it sees of this process's environment, besides `PATH`. @default [] */
  readonly env?: readonly string[] | undefined;
  /** Further variables, with their values. A `PATH` here takes the place of this process's. */
  readonly setEnv?: Readonly<Record<string, string>> | undefined;
  /** @default this process's */
  readonly cwd?: string | undefined;
  /**
   * How long it may run, in milliseconds; then it is ended with all it has started, and what it did is unknown.
   *
   * @default 10_000
   */
  readonly timeoutMs?: number | undefined;
  /** What its exit codes mean. Undeclared, 0 is committed and every other code proves nothing. */
  readonly exitCodes?: ExitCodes | undefined;
  /** How much of its output is kept, in bytes. @default 49_152 */
  readonly maxOutputBytes?: number | undefined;
  /** How long after a SIGTERM a SIGKILL follows, in milliseconds. @default 2_000 */
  readonly killAfterMs?: number | undefined;
}

/** What `commandTool` gives; spread it into the definition of a tool. */
export interface CommandTool<A> {
  /** Your `input`, and the check that the arguments make a command line: before anything is run. */
  readonly input: StandardSchema<A>;
  readonly run: (args: A, context: AttemptContext) => Promise<CommandResult>;
  readonly classify: (error: unknown) => Verdict | undefined;
  readonly effect: { readonly type: (result: CommandResult) => Effect };
  readonly plan?: (args: A) => Promise<Plan>;
  readonly attemptTimeoutMs: number;
}

/** A program ended otherwise than well. What it proves is for `exitCodes` to say. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly end: ProgramEnd;
  /** The first part of its stderr; a data URL if it is not UTF-8. Not enumerable, so not in logs. */
  declare readonly stderr: string;
  /** What it printed; a data URL if it is not UTF-8. Not enumerable. */
  declare readonly stdout: string;

  constructor(file: string, { end, stderr, stdout }: ProgramResult) {
    const how = {
      exited: "ended with",
      killed: "was killed by",
      not_started: "was not started:",
    };
    const what = end.tag === "killed" ? end.signal : String(end.code);
    super(`${basename(file)} ${how[end.tag]} ${what}.`);
    this.end = end;
    Object.defineProperty(this, "stderr", { value: stderr, enumerable: false });
    Object.defineProperty(this, "stdout", { value: asText(stdout), enumerable: false });
  }
}

/**
 * The definition of a tool that runs a program.
 *
 * @example
 * ```ts
 * const refund = hf.tool({
 *   name: "refund",
 *   kind: "write",
 *   ...commandTool<{ paymentId: string; amount: number }>({
 *     file: "payments",
 *     args: ["refund", { flag: "--amount", from: "amount" }, { from: "paymentId" }],
 *     keyFlag: "--idempotency-key",
 *   }),
 * });
 * ```
 */
export function commandTool<A>(options: CommandOptions<A>): CommandTool<A> {
  check(options);
  const { file, keyFlag, dryRunFlag, cwd } = options;
  const { timeoutMs = 10_000, killAfterMs = 2_000, maxOutputBytes = 49_152 } = options;
  // Copies: a program may go on to use its lists and objects for the next tool.
  const given = piecesOf(options.args);
  const variables = { env: [...(options.env ?? [])], setEnv: { ...options.setEnv } };
  const exitCodes = { ...options.exitCodes };
  const argvFor = (args: A, flags: readonly string[]): string[] =>
    argvOf(typeof given === "function" ? given(args) : given, args, flags);
  const execute = async (
    args: A,
    flags: readonly string[],
    signal?: AbortSignal,
  ): Promise<ProgramResult> => {
    const argv = argvFor(args, flags);
    const env = environment(variables);
    const ends = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
    return runProgram({ file, argv, env, cwd, maxOutputBytes, killAfterMs }, ends);
  };

  async function run(args: A, context: AttemptContext): Promise<CommandResult> {
    // Taken only if it is sent: a key that the program never sees earns nothing.
    const flags = keyFlag === undefined ? [] : flagWith(keyFlag, context.key);
    const ended = await execute(args, flags, context.signal).catch(notStarted);
    const { end, stdout } = ended;
    const isDone = end.tag === "exited" && verdictOfExit(end, exitCodes) === "committed";
    if (!isDone) throw new CommandError(file, ended);
    return resultOf(end.code, stdout);
  }

  async function plan(args: A): Promise<Plan> {
    const ended = await execute(args, [dryRunFlag ?? ""]);
    const { end, stdout } = ended;
    if (end.tag !== "exited" || end.code !== 0) throw new CommandError(file, ended);
    return planOf(resultOf(end.code, stdout), basename(file));
  }

  return {
    input: withCheck(options.input, (args) => argvFor(args, [])),
    run: standsFor(run, file),
    classify: (error) =>
      error instanceof CommandError ? verdictOfExit(error.end, exitCodes) : undefined,
    // What it does not say, the engine leaves out.
    effect: { type: (result) => effectOf(result) as Effect },
    // It ends by itself before its attempt is slow.
    attemptTimeoutMs: timeoutMs + killAfterMs + 1_000,
    ...(dryRunFlag === undefined ? {} : { plan }),
  };
}

/** Whatever keeps a command line from being made, there was no process. */
const notStarted = (): ProgramResult => ({
  end: { tag: "not_started", code: "EINVAL" },
  stdout: NOTHING_PRINTED,
  stderr: "",
});

const piecesOf = <A>(given: CommandOptions<A>["args"]): CommandOptions<A>["args"] =>
  typeof given === "function"
    ? given
    : given.map((piece) => (typeof piece === "string" ? piece : { ...piece }));

interface Variables {
  readonly env: readonly string[];
  readonly setEnv: Readonly<Record<string, string>>;
}

/** Without `PATH` the platform searches a default one, and another program of the same name may run. */
function environment({ env, setEnv }: Variables) {
  const passed = ["PATH", ...env].flatMap((name): [string, string][] => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(passed), ...setEnv };
}

function check<A>({ file, keyFlag, dryRunFlag, env }: CommandOptions<A>): void {
  if (typeof file !== "string" || file === "" || file.includes("\0")) {
    throw new InvalidInputError("file", "must name a program.");
  }
  for (const [name, flag] of Object.entries({ keyFlag, dryRunFlag })) {
    if (flag !== undefined && !/^-[^\s=]+$/.test(flag)) {
      throw new InvalidInputError(name, 'must be a flag, e.g. "--idempotency-key".');
    }
  }
  if (env !== undefined && !Array.isArray(env)) {
    throw new InvalidInputError("env", "must list names of variables; values go into setEnv.");
  }
}
