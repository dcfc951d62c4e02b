/**
 * The server's tools as tools of the engine, and a call of one as an operation: named by a key of the gateway's, made
 * in the scope of its thread.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { Holdfire } from "../../api.ts";
import { McpNotSentError, verdictOfMcp } from "../../classify/mcp.ts";
import { guard } from "../../engine/call/guarded-tool.ts";
import { type Tool, toolOf } from "../../engine/define/tool.ts";
import { engineOf } from "../../engine/engine-of.ts";
import type { Naming } from "../../engine/operation/operation.ts";
import type { Outcome } from "../../engine/operation/outcome.ts";
import { definitionOf, type Known } from "../../integrations/mcp/listing.ts";
import { digestText } from "../../key/digest.ts";
import { mintIdFromKey } from "../../key/mint.ts";
import type { OwnRequests } from "../pipe/own-requests.ts";
import { type CallServer, readWith } from "./read-with.ts";
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
  readonly writes: boolean;
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
    const { intent, keyed, readWith: reader, commitsWithinMs, alsoDoes, isErrorMeans } = rule;
    const proves = isErrorMeans ?? (rule.kind ? "unknown" : "rejected");
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
      effect: { id: taskIn },
      run: async (_, context) => {
        const sending = current.getStore();
        // Taken up by itself: what the host gave is not known.
        if (!sending) throw new McpNotSentError("no host has made this call");
        return sendCall(sending, context.key, toServer);
      },
      classify: (error) => verdictOfMcp(error, proves),
    });
    const registeredTool = toolOf(made) as Tool;
    registered.set(name, registeredTool);
    return registeredTool;
  }

  return {
    nameOf,
    idOf: (tool, key) =>
      mintIdFromKey({ app: engine.app, tenant: engine.tenant, tool: nameOf(tool), key }),
    make(tool, { key, thread, args, sending, asks, writes, toldToPerson = [], ...making }) {
      const base = register(tool);
      const treated: Tool = {
        ...base,
        kind: asks ? "destructive" : "write",
        // Of a tool that may be a read, another call is no other wording of the first.
        onDrift: ruleFor(tool).onDrift ?? (writes ? "hold" : "allow"),
        keyedForMs: base.keyedForMs ?? (sending.hasKeyField ? DRAFT_KEY_MS : undefined),
        alsoDoes: [...base.alsoDoes, ...toldToPerson],
        definition: asks ? async () => definitionOf(await making.define(), key) : undefined,
      };
      const naming: Naming = {
        scope: thread,
        key,
        // The protocol does not tell which calls are of one response.
        step: engine.newId(),
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

/** A call that runs as a task is answered with its handle, which is what it has made. */
function taskIn(result: unknown): string | undefined {
  const { task, taskId } = Object(result) as { task?: { taskId?: unknown }; taskId?: unknown };
  const id = task?.taskId ?? taskId;
  return typeof id === "string" ? `task ${id}` : undefined;
}
