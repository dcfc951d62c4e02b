/**
 * What a program of `examples/` gets in the place of holdfire, to show what it does without: the same names, and no
 * guard behind them.
 *
 * @module
 */

import { stageOf } from "./program.ts";

const stage = stageOf(import.meta.url);

const same = <T>(value: T): T => value;

export { same as guardMcpClient, same as guardTool, same as guardTools, same as ownRetries };

/** The signal of the run; no key. */
export const attemptOf = (): { readonly signal: AbortSignal | undefined } => ({
  signal: stage.signal,
});

/** Never asked: a state is read by holdfire alone. */
export const committed: typeof same = same;
export const absent: typeof same = same;
