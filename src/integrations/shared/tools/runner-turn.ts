/**
 * The turn of tools whose runner tells them nothing of the conversation.
 *
 * @module
 */

import { runOf, type Turn } from "./turn.ts";

/** Which request of a person the tools work for. */
export interface RunnerTurnOptions {
  /** The conversation, as you name it; with what persons have said it makes the scope. */
  readonly thread?: string | undefined;
  /** The scope itself, in place of the turn. */
  readonly scope?: string | undefined;
  /**
   * The conversation so far, or a function that returns it. Of the runners, only OpenAI's `runTools` knows
   * it by itself.
   */
  readonly messages?: unknown;
}

export function runnerTurn({ thread, scope, messages }: RunnerTurnOptions): Turn {
  const said: unknown = typeof messages === "function" ? messages() : messages;
  return { thread, scope, messages: said, run: runOf(said) };
}
