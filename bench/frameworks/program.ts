/**
 * Runs a program of `examples/` in a cell: with the service of the cell in the place of its bank, and with holdfire
 * or without it.
 *
 * Each cell has the program to itself. What the program imports is what the cell gives: `./bank.ts` and
 * `./holdfire.config.ts` are its stage, and without holdfire `holdfire/*` is a guard that does nothing.
 *
 * @module
 */

import { registerHooks } from "node:module";
import type { OAuthBank } from "../../examples/support/world.ts";
import type { ModelServer } from "../../test/servers/model-server.ts";
import type { Run } from "./columns.ts";
import type { Stage } from "./stage.ts";

/** As much of a stage as a program needs. */
export interface ProgramStage extends Pick<Stage, "cell" | "hf" | "signal" | "pay"> {
  readonly model: Pick<ModelServer, "openai" | "anthropic">;
  /** Its bank. @default one that only pays, by `pay` */
  readonly bank?: OAuthBank | undefined;
}

interface Program {
  answer(thread: string, said: readonly string[], signal?: AbortSignal): Promise<string>;
}

const CELL = "cell";
const EXAMPLES = new URL("../../examples/", import.meta.url);
const INJECTED = new URL("injected.ts", import.meta.url);
const WITHOUT = new URL("without-holdfire.ts", import.meta.url);

/** The stages of the programs that run, by the name of their cell. */
const stages = new Map<string, ProgramStage>();

registerHooks({
  resolve(specifier, context, next) {
    const cell = cellOf(context.parentURL);
    if (cell === undefined) return next(specifier, context);
    const stage = stages.get(cell);
    const isStage = specifier === "./bank.ts" || specifier === "./holdfire.config.ts";
    const isGuard = specifier === "holdfire" || specifier.startsWith("holdfire/");
    if (isStage) return { url: inCell(INJECTED, cell), shortCircuit: true };
    if (isGuard && !stage?.hf) return { url: inCell(WITHOUT, cell), shortCircuit: true };
    return next(specifier, context);
  },
});

const cellOf = (url: string | undefined): string | undefined =>
  (url && URL.parse(url)?.searchParams.get(CELL)) || undefined;

const inCell = (url: URL, cell: string): string => `${url.href}?${CELL}=${cell}`;

/** The stage of the module with this URL. */
export function stageOf(url: string): ProgramStage {
  const stage = stages.get(cellOf(url) ?? "");
  if (!stage) throw new Error("This module belongs to a cell.");
  return stage;
}

/** One run of the program of this name. */
export async function runProgram(
  name: string,
  stage: ProgramStage,
  { said, signal }: Run,
): Promise<unknown> {
  stages.set(stage.cell, stage);
  stage.signal = signal;
  const { model } = stage;
  // Read by the SDKs when a client is made. Mastra makes one for each key, and keeps it.
  Object.assign(process.env, {
    OPENAI_API_KEY: stage.cell,
    OPENAI_BASE_URL: model.openai,
    ANTHROPIC_API_KEY: "-",
    ANTHROPIC_BASE_URL: model.anthropic,
  });
  const url = inCell(new URL(`${name}.ts`, EXAMPLES), stage.cell);
  const program: Program = await import(url);
  return program.answer(THREAD, said, signal);
}

/** The conversation of every cell. */
export const THREAD = "conversation-7";
