/**
 * An MCP client under the guard: the same client, whose `callTool` and `listTools` are guarded.
 *
 * For `Client` of `@modelcontextprotocol/sdk` (v1) and of `@modelcontextprotocol/client` (v2). Neither is
 * imported here.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { engineOf } from "../../engine/engine-of.ts";
import { InvalidInputError } from "../../errors.ts";
import { peek } from "../../lang/peek.ts";
import { guardedCallTool } from "./guarded-call.ts";
import { createListing } from "./listing.ts";
import { checkGuardOptions, type McpGuardOptions, readMcpRules } from "./options.ts";
import type { McpClient } from "./sdk.ts";

const guarded = new WeakSet<object>();
const RELIST_MS = 60_000;

type Method = (...args: unknown[]) => Promise<unknown>;

/**
 * Returns the client with its tool calls guarded. Everything else is the client's own.
 *
 * @example
 * ```ts
 * const mcp = guardMcpClient(client, hf, { tools: { refund: "write", search: "read" } });
 * await hf.scope("conversation-7/turn-3", () => mcp.callTool({ name: "refund", arguments: { id: "p1" } }));
 * ```
 */
export function guardMcpClient<C extends McpClient>(
  client: C,
  hf: Holdfire,
  options: McpGuardOptions = {},
): C {
  checkGuardOptions(options);
  const { clock } = engineOf(hf);
  if (typeof peek(client, "callTool") !== "function") {
    throw new InvalidInputError("client", "must be an MCP client.");
  }
  if (guarded.has(client)) throw new InvalidInputError("client", "is guarded already.");
  const { relistMs = RELIST_MS } = options;
  const rules = readMcpRules(options);
  const listing = createListing(client, {
    goodForMs: relistMs,
    now: () => clock.monotonic(),
    alsoDoes: (name) => rules.of(name).alsoDoes,
  });
  const own = (name: string) => peek(client, name) as Method;
  const replaced: Readonly<Record<PropertyKey, unknown>> = {
    callTool: guardedCallTool(client, hf, listing, rules, options),
    listTools: async (...args: unknown[]) =>
      listing.show(await own("listTools").apply(client, args)),
    // A way around the guard would be a way to fire twice.
    request: async (...args: unknown[]) => otherThanCall(client, "request", args),
    requestStream: (...args: unknown[]) => otherThanCall(client, "requestStream", args),
    get experimental() {
      return withoutStream(peek(client, "experimental"));
    },
  };
  const proxy = standIn(client, replaced);
  guarded.add(proxy);
  return proxy;
}

const goAround = (method: string): InvalidInputError =>
  new InvalidInputError(method, "would call a tool without the guard; use callTool.");

/** Any request but that of a tool call. */
function otherThanCall(holder: unknown, name: string, args: readonly unknown[]): unknown {
  if (peek(args[0], "method") === "tools/call") throw goAround(name);
  return Reflect.apply(peek(holder, name) as Method, holder, args);
}

/** v1's other ways to call a tool. */
function withoutStream(experimental: unknown): unknown {
  const tasks = peek(experimental, "tasks");
  if (typeof tasks !== "object" || tasks === null) return experimental;
  const callToolStream = () => {
    throw goAround("callToolStream");
  };
  const requestStream = (...args: unknown[]) => otherThanCall(tasks, "requestStream", args);
  const replaced = { callToolStream, requestStream };
  return standIn(experimental as object, { tasks: standIn(tasks, replaced) });
}

/** The object itself, but for what is replaced. Methods run on the object, whose private parts they need. */
function standIn<T extends object>(object: T, replaced: Readonly<Record<PropertyKey, unknown>>): T {
  const bound = new WeakMap<object, unknown>();
  return new Proxy(object, {
    get(target, name) {
      if (Object.hasOwn(replaced, name) && name in target) return replaced[name];
      const value: unknown = Reflect.get(target, name, target);
      // What a user has set is theirs, and they may compare it.
      if (typeof value !== "function" || Object.hasOwn(target, name) || name === "constructor") {
        return value;
      }
      const known = bound.get(value) ?? value.bind(target);
      bound.set(value, known);
      return known;
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
}
