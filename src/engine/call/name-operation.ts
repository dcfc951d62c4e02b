/**
 * Names a call: from tool, arguments and scope to the operation it belongs to.
 *
 * @module
 */

import { InvalidInputError, MissingScopeError, VolatileIntentError } from "../../errors.ts";
import { type Canonical, canonicalize } from "../../key/canonical.ts";
import { checkAgain, checkAlias, checkCallerKey, checkResource } from "../../key/check-name.ts";
import { fingerprint, hashArguments, hashFields, mintId, mintIdFromKey } from "../../key/mint.ts";
import { normalizeIntent } from "../../key/normalize.ts";
import { resolveScope, type Scope } from "../../key/scope.ts";
import { threadOf } from "../../key/turn.ts";
import { findVolatileId, noticeVolatile } from "../../key/volatile-ids.ts";
import { ignoreRejection } from "../../lang/peek.ts";
import type { Tool } from "../define/tool.ts";
import type { Engine } from "../engine.ts";
import { currentFrame } from "../operation/nesting.ts";
import { about, type NamedCallOptions, type Operation } from "../operation/operation.ts";

const NONE: readonly string[] = Object.freeze([]);
const NO_FIELDS: Readonly<Record<string, string>> = Object.freeze({});

/** `joined` is the operation of an earlier turn that the call belongs to, in place of one of its own. */
export function nameOperation(
  tool: Tool,
  given: Canonical,
  options: NamedCallOptions,
  engine: Engine,
  joined?: string,
): Operation {
  const { value: args, text: argsText } = given;
  const { value: intent, text: intentText } = intentOf(tool, given);
  const aliases = options.aliases ? options.aliases.map((alias) => checkAlias(alias)) : NONE;
  const scope = resolveScope(options.scope);
  const current = scope?.isRunNamed ? [...aliases, scope.run()] : aliases;
  const volatile = findVolatileId(intent, current, tool.volatileIds === "allow");
  if (volatile !== undefined) throw new VolatileIntentError(tool.name, `intent${volatile}`);

  if (options.again !== undefined) checkAgain(options.again);
  const { tenant } = engine;
  const id = joined ?? mint(tool, scope?.id, intentText, options, engine);
  const ref = { tenant, id };
  const thread = options.key === undefined && scope ? threadOf(scope.id) : undefined;
  // In the form in which intents are compared: two forms of one name would be two lanes.
  const resource =
    tool.resource && checkResource(ignoreRejection(tool.resource(args))).normalize("NFC");
  const frame = currentFrame();
  // An id that is minted from the intent stands for it; one that a caller named does not.
  const print = options.key === undefined ? id : fingerprint(tool.name, intentText);
  const operation: Operation = {
    tool,
    ref,
    scope: scope?.id ?? "",
    // Vouched for is this turn, not the earlier one that it joins.
    fresh: joined === undefined && (scope?.fresh ?? false),
    args,
    intent,
    retry: options.retry,
    inThread: thread === undefined ? undefined : mint(tool, thread, intentText, options, engine),
    outer: frame?.outer,
    derived: undefined,
    draft: {
      identity: {
        tenant,
        id,
        tool: tool.name,
        service: tool.service,
        scope: scope?.id ?? "",
        fingerprint: print,
        // Kept where drift may be judged, by resource or by version, or where a caller has named it. Nothing asks for any
        // other, and to make one takes a random id.
        run: scope && (tool.version ?? resource ?? scope.isRunNamed) ? scope.run() : undefined,
        again: options.again,
        version: tool.version,
        resource,
        parent: frame?.operationId,
        step: options.step,
      },
      // Where the arguments are the intent, other arguments are another operation: none is reworded.
      argsHash: intentText === argsText ? print : hashArguments(argsText, id),
      fields: intentText === argsText ? NO_FIELDS : hashFields(args, id),
      intent: engine.codec.encodeText(intentText, ref),
      aliases,
    },
  };
  if (scope && joined === undefined) noticeOther(operation, scope, intentText, engine);
  if (tool.keyedForMs !== undefined && engine.app === undefined) warnOfNoApp(operation, engine);
  return operation;
}

/** Another operation of the scope differs only in what changes with every try. */
function noticeOther(operation: Operation, scope: Scope, intentText: string, engine: Engine): void {
  const { tool, ref } = operation;
  const place = `${scope.id}\u001f${tool.name}`;
  const other = noticeVolatile(engine.tenantState.seen, place, ref.id, intentText);
  if (other === undefined) return;
  engine.events.emit("warning", () => ({ ...about(operation), code: "volatile_intent", other }));
}

/** Another program with the same account at this service may mint the same key. Told once. */
function warnOfNoApp(operation: Operation, { events, warned }: Engine): void {
  if (warned.noApp) return;
  events.emit("warning", () => {
    warned.noApp = true;
    return { ...about(operation), code: "no_app" };
  });
}

/** What was wanted: all arguments, or what the tool's `intent` picks of them. */
export function intentOf(tool: Tool, given: Canonical): Canonical {
  const { value: args } = given;
  const chosen = tool.intent ? ignoreRejection(tool.intent(args)) : args;
  const picked = chosen === args ? given : canonicalize(chosen, "intent");
  if (!tool.normalize) return picked;
  const normalized =
    typeof tool.normalize === "function"
      ? ignoreRejection(tool.normalize(picked.value))
      : normalizeIntent(picked.value, tool.normalize);
  return canonicalize(normalized, "intent");
}

function mint(
  tool: Tool,
  scope: string | undefined,
  intent: string,
  { key, again }: NamedCallOptions,
  { app, tenant }: Engine,
): string {
  if (key !== undefined && again !== undefined) {
    throw new InvalidInputError("again", "cannot be combined with `key`; use a different key.");
  }
  if (key !== undefined)
    return mintIdFromKey({ app, tenant, tool: tool.name, key: checkCallerKey(key) });
  if (scope === undefined) throw new MissingScopeError(tool.name);
  return mintId({ app, tenant, scope, tool: tool.name, again, intent });
}
