/**
 * Names a call: from tool, arguments and scope to the operation it belongs to.
 *
 * What runs later is the frozen copy made here; a caller who changes its arguments changes nothing.
 *
 * @module
 */

import {
  InvalidInputError,
  MissingScopeError,
  type OperationFacts,
  VolatileIntentError,
} from "../../errors.ts";
import { type Canonical, canonicalize, type Json } from "../../key/canonical.ts";
import { checkAgain, checkAlias, checkCallerKey, checkResource } from "../../key/check-name.ts";
import {
  fingerprint,
  hashArguments,
  hashFields,
  mintId,
  mintIdFromKey,
  wireKey,
} from "../../key/mint.ts";
import { normalizeIntent } from "../../key/normalize.ts";
import { resolveScope, type Scope, showScope } from "../../key/scope.ts";
import { findVolatileId, noticeVolatile } from "../../key/volatile-ids.ts";
import { ignoreRejection } from "../../lang/ignore-rejection.ts";
import type { Ref } from "../../ledger/ledger.ts";
import type { Draft } from "../../ledger/moves.ts";
import type { CallOptions } from "../define/definition.ts";
import type { Engine, Tool } from "../engine.ts";
import { currentFrame, type Outer } from "./nesting.ts";

export interface Operation {
  readonly tool: Tool;
  readonly ref: Ref;
  readonly scope: string;
  /** The caller vouches that nothing was done under this scope before. */
  readonly fresh: boolean;
  readonly args: Json;
  readonly intent: Json;
  readonly draft: Draft;
  /** The operations inside whose attempts it is made, the nearest first. */
  readonly outer?: readonly Outer[] | undefined;
  /** The reason given for another try of something rejected. */
  readonly retry: string | undefined;
}

/** `key` is a caller's own name for the operation, in place of scope and intent. */
export interface Naming extends CallOptions {
  readonly key?: string | undefined;
}

export function nameOperation(
  tool: Tool,
  { value: args, text: argsText }: Canonical,
  options: Naming,
  engine: Engine,
): Operation {
  const { value: intent, text: intentText } = intentOf(tool, args, argsText);
  const aliases = (options.aliases ?? []).map((alias) => checkAlias(alias));
  const scope = resolveScope(options.scope);
  const volatile = findVolatileId(intent, scope ? [...aliases, scope.run] : aliases);
  if (volatile !== undefined) throw new VolatileIntentError(tool.name, `intent${volatile}`);

  if (options.again !== undefined) checkAgain(options.again);
  const { tenant } = engine;
  const id = mint(tool, scope, intentText, options, tenant);
  const resource = tool.resource && checkResource(ignoreRejection(tool.resource(args)));
  const operation: Operation = {
    tool,
    ref: { tenant, id },
    scope: scope?.id ?? "",
    fresh: scope?.fresh ?? false,
    args,
    intent,
    retry: options.retry,
    outer: currentFrame()?.outer,
    draft: {
      identity: {
        tenant,
        id,
        tool: tool.name,
        service: tool.service,
        scope: scope?.id ?? "",
        fingerprint: fingerprint(tool.name, intentText),
        run: scope?.run,
        again: options.again,
        version: tool.version,
        resource,
        parent: currentFrame()?.operationId,
      },
      argsHash: hashArguments(argsText, id),
      fields: hashFields(args, id),
      intent: engine.codec.encodeText(intentText, { tenant, id }),
      aliases,
    },
  };
  const other =
    scope && noticeVolatile(engine.seen, `${scope.id}\u001f${tool.name}`, id, intentText);
  if (other) engine.events.emit("volatile_intent", { ...about(operation), other });
  return operation;
}

function intentOf(tool: Tool, args: Json, argsText: string): { value: Json; text: string } {
  const chosen = ignoreRejection(tool.intent(args));
  const picked = chosen === args ? { value: args, text: argsText } : canonicalize(chosen, "intent");
  if (!tool.normalize) return picked;
  const normalized =
    typeof tool.normalize === "function"
      ? ignoreRejection(tool.normalize(picked.value))
      : normalizeIntent(picked.value, tool.normalize);
  return canonicalize(normalized, "intent");
}

function mint(
  tool: Tool,
  scope: Scope | undefined,
  intent: string,
  { key, again }: Naming,
  tenant: string,
): string {
  if (key !== undefined && again !== undefined) {
    throw new InvalidInputError("again", "says nothing beside a key: name another key instead");
  }
  if (key !== undefined)
    return mintIdFromKey({ tenant, tool: tool.name, key: checkCallerKey(key) });
  if (!scope) throw new MissingScopeError(tool.name);
  return mintId({ tenant, scope: scope.id, tool: tool.name, again, intent });
}

/** The operation's name for errors and events. */
export const factsOf = (operation: Operation, generation = 0): OperationFacts => ({
  tool: operation.tool.name,
  id: operation.ref.id,
  key: wireKey(operation.ref.id, generation),
});

export const about = (
  operation: Operation,
  generation = 0,
): OperationFacts & { readonly tenant: string; readonly scope: string } => ({
  ...factsOf(operation, generation),
  tenant: operation.ref.tenant,
  scope: showScope(operation.scope),
});
