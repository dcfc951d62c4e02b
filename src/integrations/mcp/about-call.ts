/**
 * What the user's functions say of a call: which request it belongs to, its id, whether it is wanted again.
 *
 * They are asked when the call is made, about the object that the caller gave: what they look up may stand for the next call as
 * soon as this one waits for anything.
 *
 * @module
 */

import { ignoreRejection } from "../../lang/peek.ts";
import { aliasesOf, wantedAgain } from "../shared/tools/guard-function.ts";
import { keyNamesOf, withoutKey, withoutMadeUp } from "../shared/tools/hidden-key.ts";
import { type FoundTurn, findTurn, fromContext } from "../shared/tools/turn.ts";
import type { McpGuardOptions, McpToolRules } from "./options.ts";
import type { McpArguments, McpCall, McpTool } from "./sdk.ts";

export interface AboutCall {
  readonly turn: FoundTurn;
  readonly aliases: readonly string[];
  readonly again: string | undefined;
}

interface Asked {
  /** The object that the caller gave: a function may know it as that. */
  readonly call: McpCall;
  /** The copy of it. */
  readonly params: McpArguments["params"];
  readonly toolName: string;
  readonly options: McpGuardOptions;
  readonly again: McpToolRules["again"];
}

/** Asks all of them at once. A promise, because a read needs none of it: what one of them throws, only a write hears of. */
export const aboutCall = (asked: Asked): Promise<AboutCall> => ignoreRejection(ask(asked));

async function ask({ call, params, toolName, options, again }: Asked): Promise<AboutCall> {
  const aliases = aliasesOf(options.toolCallId?.(call));
  const turn = findTurn({
    scope: fromContext(options.scope, call),
    turn: fromContext(options.turn, call),
    thread: fromContext(options.thread, call),
    messages: options.messages?.(call),
  });
  // The tool's schema is still to come, so whatever looks like a key is left out.
  const args = withoutKeys(params.arguments, undefined);
  const wanted = wantedAgain(toolName, again, args, { ...turn, aliases, context: call });
  return { turn, aliases, again: wanted };
}

/** A model's word is never a key, in whatever spelling. */
export const withoutKeys = (args: unknown, tool: McpTool | undefined): unknown => {
  const named = withoutKey(withoutKey(args, "idempotency_key"), "idempotencyKey");
  return withoutMadeUp(named, keyNamesOf(tool?.inputSchema));
};
