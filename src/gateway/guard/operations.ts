/**
 * The server's tools as tools of the engine, and a call of one as an operation: named by a key of the gateway's, made
 * in the scope of its thread.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { Holdfire } from "../../api.ts";
import { McpNotSentError, McpToolError, verdictOfMcp } from "../../classify/mcp.ts";
import { guard } from "../../engine/call/guarded-tool.ts";
import type { OnDrift } from "../../engine/define/definition.ts";
import { type Tool, toolOf } from "../../engine/define/tool.ts";
import { engineOf } from "../../engine/engine-of.ts";
import type { NamedCallOptions } from "../../engine/operation/operation.ts";
import type { Outcome } from "../../engine/operation/outcome.ts";
import { definitionOf, type Known } from "../../integrations/mcp/listing.ts";
import { digestText } from "../../key/digest.ts";
import { mintIdFromKey } from "../../key/mint.ts";
import type { OwnRequests } from "../pipe/own-requests.ts";
import { effectOfTask } from "../tasks.ts";
import { type CallServer, idInAnswer, isSuccess, readWith } from "./read-with.ts";
import type { GatewayRule } from "./rules.ts";
import { type Sending, sendCall } from "./send-call.ts";

/** What one call of the host is in the ledger. */
export interface Making {
  /** Of its operation. */
  readonly key: string;
  readonly thread: string;
  readonly args: unknown;
  readonly sending: Sending;
  /** A person must say yes. */
  readonly asks: boolean;
  readonly onDrift: OnDrift;
  /** Operations that it may be in other words. */
  readonly mayReword: readonly string[];
  /** What the person is told beside what the tool also does. */
  readonly toldToPerson?: readonly string[] | undefined;
  readonly retry?: string | undefined;
  readonly signal: AbortSignal;
  /** The definition of the tool as it is now. */
  readonly define: () => Promise<Known>;
}

export interface Operations {
  /** The name of a tool in the ledger. */
  nameOf(tool: string): string;
  /** The operation of a key. */
  idOf(tool: string, key: string): string;
  make(tool: string, making: Making): Promise<Outcome<unknown>>;
}

export interface OperationsOptions {
  readonly hf: Holdfire;
  readonly server: string;
  readonly ruleFor: (tool: string) => GatewayRule;
  readonly toServer: OwnRequests;
  readonly callServer: CallServer;
  /** After so long a call is slow, in milliseconds: it is read, or made again by its key, where that can be. */
  readonly attemptTimeoutMs: number;
}

/** A host waits for as long as it likes. */
const DEADLINE_MS = 24 * 3_600_000;
/** Of a server that says that it has the draft field, and not for how long it remembers. */
const DRAFT_KEY_MS = 24 * 3_600_000;
const LONGEST_NAME = 128;

export function operationsOf(options: OperationsOptions): Operations {
  const { hf, server, ruleFor, toServer, callServer } = options;
  const engine = engineOf(hf);
  const current = new AsyncLocalStorage<Sending>();
  const registered = new Map<string, Tool>();

  function nameOf(tool: string): string {
    const full = `${server.replaceAll("#", "%23")}#${tool}`.replaceAll(/\p{C}/gu, "_").trim();
    if (full.length <= LONGEST_NAME) return full;
    return `${full.slice(0, 100)}-${digestText("gateway-tool", full).slice(0, 22)}`;
  }

  function register(tool: string): Tool {
    const name = nameOf(tool);
    const known = registered.get(name);
    if (known) return known;
    const rule = ruleFor(tool);
    const {
      intent,
      keyed,
      readWith: reader,
      commitsWithinMs,
      alsoDoes,
      isErrorMeans,
      succeedsWith,
    } = rule;
    const made = hf.tool<unknown, unknown>({
      name,
      kind: "write",
      service: server,
      volatileIds: "allow",
      deadlineMs: DEADLINE_MS,
      attemptTimeoutMs: options.attemptTimeoutMs,
      intent: intent && ((args) => pick(args, intent)),
      keyed,
      commitsWithinMs,
      alsoDoes,
      readState: reader && ((query) => readWith(reader, query as never, callServer)),
      effect: { id: (result) => effectOfTask(result) ?? idInAnswer(result, reader) },
      run: async (_, context) => {
        const sending = current.getStore();
        // Taken up by itself: what the host gave is not known.
        if (!sending) throw new McpNotSentError("no host has made this call");
        const result = await sendCall(sending, context.key, toServer);
        // The handle of a task says nothing yet.
        const isYes = effectOfTask(result) !== undefined || isSuccess(result, succeedsWith);
        if (!isYes) throw new McpToolError(result);
        return result;
      },
      classify: (error) => verdictOfMcp(error, isErrorMeans),
    });
    const registeredTool = toolOf(made) as Tool;
    registered.set(name, registeredTool);
    return registeredTool;
  }

  return {
    nameOf,
    idOf: (tool, key) =>
      mintIdFromKey({ app: engine.app, tenant: engine.tenant, tool: nameOf(tool), key }),
    make(tool, { key, thread, args, sending, asks, toldToPerson = [], ...making }) {
      const base = register(tool);
      const treated: Tool = {
        ...base,
        kind: asks ? "destructive" : "write",
        onDrift: making.onDrift,
        mayReword: making.mayReword,
        keyedForMs: base.keyedForMs ?? (sending.hasKeyField ? DRAFT_KEY_MS : undefined),
        alsoDoes: [...base.alsoDoes, ...toldToPerson],
        definition: asks ? async () => definitionOf(await making.define(), key) : undefined,
      };
      const naming: NamedCallOptions = {
        scope: thread,
        key,
        retry: making.retry,
        signal: making.signal,
      };
      return current.run(sending, () =>
        guard<unknown, unknown>(treated, engine).outcome(args, naming),
      );
    },
  };
}

function pick(args: unknown, names: readonly string[]): object {
  const given = Object(args) as Record<string, unknown>;
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]),
  );
}
