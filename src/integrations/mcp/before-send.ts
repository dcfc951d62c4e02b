/**
 * What is known of a call before it is sent: whether its arguments fit the tool's schema, and whether the SDK gave it to
 * its transport at all. Either way the tool did not run.
 *
 * @module
 */

import { peek, tryCall } from "../../lang/peek.ts";
import { KEY_META } from "./result.ts";
import type { McpClient, McpTool } from "./sdk.ts";

const MAX_WORDS = 300;
const validators = new WeakMap<object, (args: unknown) => unknown>();

/**
 * Why the arguments do not fit the listed schema, by the validator that the SDK itself has for results. A server of the SDK
 * would refuse them as well, in an answer that does not tell whether the tool ran. `undefined`: they fit, or the
 * schema cannot be used.
 */
export function misfit(
  client: McpClient,
  tool: McpTool | undefined,
  args: unknown,
): string | undefined {
  const schema = tool?.inputSchema;
  if (typeof schema !== "object") return undefined;
  try {
    const validator = validators.get(schema) ?? validatorOf(client, schema);
    if (!validator) return undefined;
    validators.set(schema, validator);
    const checked = validator(structuredClone(args));
    if (peek(checked, "valid") !== false) return undefined;
    return String(peek(checked, "errorMessage") ?? "they are invalid").slice(0, MAX_WORDS);
  } catch {
    return undefined;
  }
}

function validatorOf(client: McpClient, schema: object) {
  // One that names itself would be mixed up with an earlier definition of the same name.
  const { $id: _, ...unnamed } = schema as { readonly $id?: unknown };
  const made = tryCall(peek(client, "_jsonSchemaValidator"), "getValidator", unnamed);
  return typeof made === "function" ? (made as (args: unknown) => unknown) : undefined;
}

export interface Watched {
  readonly send: unknown;
  /** A message was seen: it is what the client sends through. */
  isUsed: boolean;
  /** Those who wait to hear of a key. Several, where an attempt follows one that is still under way. */
  readonly waiting: Map<string, Set<() => void>>;
}

const watched = new WeakMap<object, Watched>();

/** Whether a call with this key was given to the transport; `undefined` where that cannot be seen. */
export interface Handing {
  wasHanded(): boolean | undefined;
  stop(): void;
}

export function watchHanding(transport: unknown, key: string): Handing {
  const seen = watchTransport(transport);
  let handed = false;
  const hear = () => {
    handed = true;
  };
  const all = seen?.waiting.get(key) ?? new Set();
  seen?.waiting.set(key, all.add(hear));
  return {
    // Whoever put another `send` in the place of ours may send without it.
    wasHanded: () => (seen?.isUsed && peek(transport, "send") === seen.send ? handed : undefined),
    stop() {
      all.delete(hear);
      if (all.size === 0) seen?.waiting.delete(key);
    },
  };
}

/** Sees what is given to the transport, from now on. `undefined` where that is not possible. */
export function watchTransport(transport: unknown): Watched | undefined {
  if (typeof transport !== "object" || transport === null) return undefined;
  const known = watched.get(transport);
  if (known) return known;
  const send = peek(transport, "send");
  if (typeof send !== "function") return undefined;
  const waiting: Watched["waiting"] = new Map();
  const seen: Watched = {
    waiting,
    isUsed: false,
    send: (message: unknown, ...rest: unknown[]): unknown => {
      seen.isUsed = true;
      const key = peek(peek(peek(message, "params"), "_meta"), KEY_META);
      for (const hear of waiting.get(String(key)) ?? []) hear();
      return Reflect.apply(send, transport, [message, ...rest]);
    },
  };
  const isSet = Reflect.defineProperty(transport, "send", {
    value: seen.send,
    configurable: true,
    writable: true,
  });
  if (!isSet) return undefined;
  watched.set(transport, seen);
  return seen;
}
